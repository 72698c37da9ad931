import { TrustedFileError } from '@wins/trusted-files';
import { errnoOf, messageOf, quoteText } from '@wins/base';
import { PipeError, type PipeErrorCode } from './pipe-error.js';
import type { PipePath } from './pipe-path.js';

export type PipeOperation = 'listen on' | 'connect to' | 'accept on' | 'use';

// Node's codes, our code, and the meaning for the user.
const TRANSLATIONS: readonly (readonly [codes: string, PipeErrorCode, string])[] = [
  ['ENOENT', 'notFound', 'there is no such file'],
  ['ENOTDIR', 'notFound', 'a part of its path is not a directory'],
  ['ECONNREFUSED', 'notFound', 'the socket file exists, but no process serves it'],
  ['EACCES EPERM', 'accessDenied', 'the operating system denies this user access'],
  ['EROFS', 'accessDenied', 'the file system is read-only'],
  // A Unix socket with a full backlog, or a named pipe without a free instance.
  ['EAGAIN EBUSY', 'busy', 'it accepts no more clients now'],
  ['EADDRINUSE EEXIST', 'inUse', 'the name is in use'],
  ['ETIMEDOUT', 'timeout', 'it did not answer in time'],
  ['EPIPE ECONNRESET ECONNABORTED EOF', 'closed', 'the other side has closed it'],
  ['ERR_STREAM_DESTROYED ERR_STREAM_WRITE_AFTER_END', 'closed', 'it is closed already'],
  ['ERR_SOCKET_CLOSED', 'closed', 'it is closed already'],
  ['ENAMETOOLONG', 'invalidName', 'its path is too long'],
  ['EMFILE', 'unknown', 'this process has no file descriptors left'],
  ['ENFILE', 'unknown', 'the host has no file descriptors left'],
  ['ENOSPC', 'unknown', 'the disk is full'],
];

const NEXT_STEP: Readonly<Record<PipeOperation, Readonly<Partial<Record<PipeErrorCode, string>>>>> =
  {
    'listen on': {
      notFound: 'create its directory first',
      accessDenied: 'run as the owner of the directory, or choose another one',
      inUse: 'stop the process that serves it, or choose another name',
    },
    'connect to': {
      notFound: 'check that the daemon is running and the name is right',
      accessDenied: 'run as the user the daemon runs as, or as an administrator',
      busy: 'try again later',
      timeout: 'the daemon may be stuck',
    },
    'accept on': { unknown: 'the listener keeps accepting' },
    use: {},
  };

/** Translates an error of the platform; a {@link PipeError} passes unchanged. The original error is the `cause`. */
export function pipeErrorFrom(error: unknown, operation: PipeOperation, path: PipePath): PipeError {
  if (error instanceof PipeError) return error;
  const cause = error instanceof TrustedFileError ? (error.cause ?? error) : error;
  const [code, found] = translate(cause);
  return describePipeError(code, operation, path, found, cause);
}

function translate(error: unknown): readonly [PipeErrorCode, string] {
  const code = errnoOf(error);
  if (code === 'ERR_UNTRUSTED_PIPE_SERVER' && error instanceof Error)
    return ['securityUnavailable', error.message];
  const known = TRANSLATIONS.find(([codes]) => codes.split(' ').includes(code ?? ''));
  return known === undefined ? ['unknown', messageOf(error)] : [known[1], known[2]];
}

export function abortedError(
  operation: PipeOperation,
  path: PipePath,
  { reason }: AbortSignal,
): PipeError {
  return describePipeError('aborted', operation, path, 'it was aborted', reason);
}

export function describePipeError(
  code: PipeErrorCode,
  operation: PipeOperation,
  path: PipePath,
  found: string,
  cause?: unknown,
): PipeError {
  const pipe =
    path.name === path.address ? path.address : `${quoteText(path.name)} (${path.address})`;
  const next = NEXT_STEP[operation][code];
  const message = `cannot ${operation} pipe ${pipe}: ${found}${next === undefined ? '' : `; ${next}`}`;
  return new PipeError(code, message, { pipe: path.name, address: path.address, cause });
}
