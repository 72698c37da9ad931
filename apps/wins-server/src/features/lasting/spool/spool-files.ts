import { NumberedFiles } from '@wins/files';

/** Files of a spool: a spool is bounded to so many, more or less, and a file goes as a whole. */
export const FILES_OF_SPOOL = 16;

/** The files of the spool in a folder; the number of a file is the offset of its first byte of output. */
export function spoolFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'spool', suffix: 'bin', digits: 15 });
}
