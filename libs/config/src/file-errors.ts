import { TrustedFileError, type TrustedFileErrorCode } from '@wins/trusted-files';
import { ConfigError, fileError } from './config-error.js';
import { quote, type FileProblemCode } from './problems/config-problem.js';

/** Node's and the system's error codes, as problems of a file. */
const SYSTEM_CODES: ReadonlyMap<unknown, readonly [FileProblemCode, string]> = new Map([
  ['ENOENT', ['notFound', 'nothing at this path']],
  ['ENOTDIR', ['notFound', 'a path that leads through a file']],
  ['ERR_INVALID_ARG_VALUE', ['notFound', 'a path with a NUL character']],
  ['EACCES', ['accessDenied', 'no permission to access it']],
  ['EPERM', ['accessDenied', 'no permission to access it']],
  ['EROFS', ['accessDenied', 'a read-only file system']],
  ['EISDIR', ['notRegularFile', 'a directory']],
  ['ENXIO', ['notRegularFile', 'a device or socket']],
  ['ELOOP', ['notRegularFile', 'a loop of symbolic links']],
]);

/** What was judged of a file, as a problem of it. What is not listed is `unknown`. */
const CODES: Readonly<Partial<Record<TrustedFileErrorCode, FileProblemCode>>> = {
  accessDenied: 'accessDenied',
  changed: 'insecure',
  notFound: 'notFound',
  notRegularFile: 'notRegularFile',
  notTrusted: 'insecure',
  tooLarge: 'tooLarge',
};
const TRUSTED = 'a file that only administrators or the user of this process may write';

/** Whether there is no such file, and no parent that is something else than a folder. */
export function isMissing(error: unknown): boolean {
  return error instanceof TrustedFileError && systemCode(error.cause) === 'ENOENT';
}

/** Translates an error of a file operation; `expected` says what was wanted. Our own errors pass unchanged. */
export function translateFileError(error: unknown, file: string, expected: string): ConfigError {
  if (error instanceof ConfigError) return error;
  if (!(error instanceof TrustedFileError)) {
    return fileError('unknown', file, `the failure ${String(error)}`, expected, { cause: error });
  }
  const cause = error.cause ?? error;
  const known = SYSTEM_CODES.get(systemCode(error.cause));
  if (known !== undefined) return fileError(known[0], file, known[1], expected, { cause });
  const code = CODES[error.code] ?? 'unknown';
  const where = error.at === file ? '' : `at ${quote(error.at)} `;
  const wanted = code === 'insecure' ? TRUSTED : expected;
  return fileError(code, file, `${where}that ${error.found}`, wanted, { cause });
}

function systemCode(cause: unknown): unknown {
  return (cause as { readonly code?: unknown } | undefined)?.code;
}
