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

/** The `code` of an error thrown by Node, such as `ENOENT`; told by its form, for Node's `Error` may be of another realm. */
export function nodeErrorCode(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Translates an error of a file operation; `expected` says what was wanted. Our own errors pass unchanged. */
export function translateNodeError(error: unknown, file: string, expected: string): ConfigError {
  if (error instanceof ConfigError) return error;
  const nodeCode = nodeErrorCode(error);
  const [code, found] = CODES.get(nodeCode ?? '') ?? ['unknown', `the failure ${String(error)}`];
  return fileError(code, file, found, expected, { cause: error });
}
