import { NumberedFiles } from '@wins/files';

/** The files of the log in a folder: `audit.00000001.jsonl` and so on. */
export function auditFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'audit', suffix: 'jsonl', digits: 8 });
}
