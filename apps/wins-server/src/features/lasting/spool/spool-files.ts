import { NumberedFiles } from '@wins/files';

/** Approximate number of files in a full spool; files are removed as a whole. */
export const FILES_OF_SPOOL = 16;

/** Returns the spool files of a folder; the number of a file is the offset of its first output byte. */
export function spoolFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'spool', suffix: 'bin', digits: 15 });
}
