import { readdir } from 'node:fs/promises';
import path from 'node:path';

const NAME = /^audit\.(\d{8})\.jsonl$/;

/** The numbers of the files of a log, in order. @throws what Node throws for a folder that cannot be read. */
export async function auditFiles(directory: string): Promise<readonly number[]> {
  const names = await readdir(directory);
  return names
    .map((name) => NAME.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/** The name of a file of a log. */
export function auditFileName(number: number): string {
  return `audit.${String(number).padStart(8, '0')}.jsonl`;
}

/** Where a file of a log lies. */
export function auditFilePath(directory: string, number: number): string {
  return path.join(directory, auditFileName(number));
}
