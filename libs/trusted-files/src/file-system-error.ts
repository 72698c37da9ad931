import { errnoOf, messageOf } from '@wins/base';
import { TrustedFileError, type TrustedFileErrorCode } from './trusted-file-error.js';

const TRANSLATIONS: ReadonlyMap<string, readonly [TrustedFileErrorCode, string]> = new Map([
  ['ENOENT', ['notFound', 'there is no such file or folder']],
  ['ENOTDIR', ['notFound', 'a part of the path is not a folder']],
  ['ERR_INVALID_ARG_VALUE', ['notFound', 'the path holds a NUL character']],
  ['EACCES', ['accessDenied', 'access is denied']],
  ['EPERM', ['accessDenied', 'the operation is not permitted']],
  ['EROFS', ['accessDenied', 'the file system is read-only']],
  ['EEXIST', ['alreadyExists', 'a file of that name exists already']],
  ['EBUSY', ['inUse', 'another program holds the file']],
  ['ETXTBSY', ['inUse', 'another program holds the file']],
  ['EISDIR', ['notRegularFile', 'it is a folder']],
  ['ERR_FS_EISDIR', ['notRegularFile', 'it is a folder']],
  ['ENXIO', ['notRegularFile', 'it is a device or a socket']],
  ['ELOOP', ['notTrusted', 'it is a symbolic link, or a loop of them']],
  ['ENOSPC', ['noSpace', 'the disk is full']],
  ['EDQUOT', ['noSpace', 'the disk quota is exhausted']],
]);

/** Translates a file-system error of Node. Returns any other error unchanged. */
export function fileSystemError(error: unknown, tried: string, path: string): unknown {
  const errno = errnoOf(error);
  if (errno === undefined || error instanceof TrustedFileError) return error;
  // Other libraries' errors have a `code` too. Only system errors also have an `errno`, and only Node's own codes begin with ERR_.
  if (!('errno' in (error as object)) && !errno.startsWith('ERR_')) return error;
  const [code, found] = TRANSLATIONS.get(errno) ?? ['unknown', `the system reports ${errno}`];
  const rule = errno === 'ELOOP' ? { rule: 'A7 symbolic link' as const } : {};
  return new TrustedFileError(code, tried, path, found, { cause: error, ...rule });
}

/** Returns in plain words, such as `the disk is full`, what a failed use of a file found. */
export function foundIn(error: unknown): string {
  const known = fileSystemError(error, 'use', '');
  return known instanceof TrustedFileError ? known.found : messageOf(known);
}
