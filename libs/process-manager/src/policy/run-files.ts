import { foldAscii, quoteText } from '@wins/base';
import { ProcessError } from '../process-error.js';
import { DEVICE_NAME } from './parsed-path.js';

/** Bounds of the files that a client may give to one run of an entry. */
export interface FilesGrant {
  /** Maximum number of files. */
  readonly max: number;
  /** Total size of all files, in bytes. */
  readonly maxBytes: number;
}

/** A file that a client gives to its run. */
export interface RunFile {
  /** File name in the run's folder: 1 to 64 letters, digits, `.`, `_` and `-`. */
  readonly name: string;
  readonly content: Uint8Array;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const NO_NAME =
  'it is not a plain file name; wanted 1 to 64 letters, digits, ".", "_" and "-", and no device';
const GIVEN_TWICE = 'the name is given twice (ignoring case)';

/**
 * Treats names as equal if they differ only in upper and lower case.
 *
 * @throws ProcessError `filesNotAllowed` unless the entry allows these files, `invalidArgument` for an invalid name.
 */
export function assertRunFiles(
  files: readonly RunFile[],
  { path, files: grant }: { readonly path: string; readonly files?: FilesGrant | undefined },
): void {
  if (files.length === 0) return;
  if (grant === undefined)
    throw notAllowed(
      `files to a run of ${quoteText(path)}: its entry does not grant them. Add "files" to the entry`,
    );
  if (files.length > grant.max)
    throw notAllowed(`${files.length} files to a run: its entry allows ${grant.max}`);
  const names = new Set<string>();
  for (const { name } of files) {
    const key = foldAscii(name);
    const found = names.has(key) ? GIVEN_TWICE : isFileName(name) ? undefined : NO_NAME;
    if (found !== undefined) {
      const message = `cannot give a run the file ${quoteText(name)}: ${found}`;
      throw new ProcessError('invalidArgument', message);
    }
    names.add(key);
  }
  const bytes = files.reduce((sum, { content }) => sum + content.length, 0);
  assertFileBytes(bytes, grant);
}

/** @throws ProcessError `filesNotAllowed`. */
export function assertFileBytes(bytes: number, { maxBytes }: FilesGrant): void {
  if (bytes > maxBytes)
    throw notAllowed(`${bytes} bytes of files to a run: its entry allows ${maxBytes}`);
}

function isFileName(name: string): boolean {
  const stem = name.split('.', 1)[0] ?? '';
  return NAME.test(name) && !name.endsWith('.') && !DEVICE_NAME.test(foldAscii(stem));
}

function notAllowed(found: string): ProcessError {
  const rule = 'A130 files not granted';
  return new ProcessError('filesNotAllowed', `cannot give ${found}`, { rule });
}
