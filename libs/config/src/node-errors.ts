import { errnoOf } from '@wins/wins-program';
import { ConfigError, fileError } from './config-error.js';
import type { FileProblemCode } from './problems/config-problem.js';

/** Node's and the system's error codes, as problems of a file. What is not listed is `unknown`. */
const CODES: ReadonlyMap<string, readonly [FileProblemCode, string]> = new Map([
  ['ENOENT', ['notFound', 'nothing at this path']],
  ['ENOTDIR', ['notFound', 'a path that leads through a file']],
  ['ERR_INVALID_ARG_VALUE', ['notFound', 'a path with a NUL character']],
  ['EACCES', ['accessDenied', 'that access is denied']],
  ['EPERM', ['accessDenied', 'that access is denied']],
  ['EROFS', ['accessDenied', 'a read-only file system']],
  ['EISDIR', ['notRegularFile', 'a directory']],
  ['ENXIO', ['notRegularFile', 'a device or socket']],
  ['ELOOP', ['notRegularFile', 'a loop of symbolic links']],
]);

/** Translates an error of a file operation; `expected` says what was wanted. Our own errors pass unchanged. */
export function translateNodeError(error: unknown, file: string, expected: string): ConfigError {
  if (error instanceof ConfigError) return error;
  const [code, found] = CODES.get(errnoOf(error) ?? '') ?? [
    'unknown',
    `the failure ${String(error)}`,
  ];
  return fileError(code, file, found, expected, { cause: error });
}
