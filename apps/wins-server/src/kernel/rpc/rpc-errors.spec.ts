import { status } from '@grpc/grpc-js';
import { ProcessError, type ProcessErrorCode } from '@wins/process-manager';
import { ERROR_METADATA_KEY } from '@wins/wins-api/contract';
import type { HostSystemErrorCode } from '../feature-error.js';
import { toRpcError } from './rpc-errors.js';

const rpcError = (code: ProcessErrorCode) => toRpcError(new ProcessError(code, 'what was found'));

describe('an error on its way to the client', () => {
  it.each<[ProcessErrorCode, status, string]>([
    ['pathNotAllowed', status.INVALID_ARGUMENT, 'invalid path: what was found'],
    ['invalidPath', status.INVALID_ARGUMENT, 'invalid path: what was found'],
    ['checksumMismatch', status.NOT_FOUND, 'what was found'],
    ['notFound', status.NOT_FOUND, 'what was found'],
    ['alreadyRunning', status.ALREADY_EXISTS, 'what was found'],
    ['stagingFailed', status.INTERNAL, 'what was found'],
    ['pathNotTrusted', status.PERMISSION_DENIED, 'what was found'],
    ['argumentsNotAllowed', status.PERMISSION_DENIED, 'what was found'],
    ['detachedNotAllowed', status.PERMISSION_DENIED, 'what was found'],
    ['notOwner', status.PERMISSION_DENIED, 'what was found'],
    ['shuttingDown', status.UNAVAILABLE, 'what was found'],
  ])('%s has the status and the words that Go clients know', (code, statusCode, details) => {
    expect(rpcError(code)).toMatchObject({ code: statusCode, details });
  });

  it('carries the code of the library in its trailing metadata', () => {
    expect(rpcError('digestNotPinned').metadata?.get(ERROR_METADATA_KEY)).toEqual([
      'digestNotPinned',
    ]);
  });

  it.each<[HostSystemErrorCode, status, string]>([
    ['notFound', status.NOT_FOUND, 'notFound'],
    ['invalidArgument', status.INVALID_ARGUMENT, 'invalidArgument'],
    ['unavailable', status.FAILED_PRECONDITION, 'hostUnsupported'],
    ['accessDenied', status.PERMISSION_DENIED, 'accessDenied'],
    ['notVerified', status.INTERNAL, 'notVerified'],
    ['unknown', status.UNKNOWN, 'unknown'],
  ])('%s of the host system has its status and a word of ours', (code, statusCode, reason) => {
    const error = toRpcError(Object.assign(new Error('what was found'), { code }));
    expect(error).toMatchObject({ code: statusCode, details: 'what was found' });
    expect(error.metadata?.get(ERROR_METADATA_KEY)).toEqual([reason]);
  });

  it('is INTERNAL when no library foresaw it', () => {
    expect(toRpcError(new TypeError('oops'))).toEqual({ code: status.INTERNAL, details: 'oops' });
  });
});
