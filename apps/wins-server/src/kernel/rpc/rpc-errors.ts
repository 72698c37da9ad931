import {
  Metadata,
  status,
  type handleUnaryCall,
  type sendUnaryData,
  type ServerUnaryCall,
  type ServiceError,
} from '@grpc/grpc-js';
import {
  ProcessError,
  type ProcessErrorCode,
  type ProcessRefusalCode,
} from '@wins/process-manager';
import { ERROR_METADATA_KEY } from '@wins/wins-api/contract';
import { messageOf } from '@wins/base';
import {
  hostSystemErrorCode,
  isFeatureError,
  type FeatureErrorCode,
  type HostSystemErrorCode,
} from '../feature-error.js';

/**
 * A refusal is PERMISSION_DENIED. To the Go client, INVALID_ARGUMENT with "invalid path" means a whitelist refusal; NOT_FOUND means a missing or
 * different binary.
 */
const STATUS: Readonly<Record<Exclude<ProcessErrorCode, ProcessRefusalCode>, status>> = {
  aborted: status.CANCELLED,
  alreadyRunning: status.ALREADY_EXISTS,
  auditUnavailable: status.UNAVAILABLE,
  checksumMismatch: status.NOT_FOUND,
  directoryNotFound: status.NOT_FOUND,
  hostUnsupported: status.FAILED_PRECONDITION,
  invalidArgument: status.INVALID_ARGUMENT,
  invalidPath: status.INVALID_ARGUMENT,
  leaseHeld: status.ALREADY_EXISTS,
  limitsUnavailable: status.FAILED_PRECONDITION,
  notFound: status.NOT_FOUND,
  pathNotAllowed: status.INVALID_ARGUMENT,
  portsNotOpened: status.INTERNAL,
  shuttingDown: status.UNAVAILABLE,
  spawnFailed: status.INTERNAL,
  stagingFailed: status.INTERNAL,
  stateUnavailable: status.INTERNAL,
  tooManyChanges: status.RESOURCE_EXHAUSTED,
  tooManyProcesses: status.RESOURCE_EXHAUSTED,
  unknown: status.UNKNOWN,
};

/** gRPC status and reason for each error. Where possible, the reason is a `ProcessErrorCode`, because clients already know those. */
const HOST_STATUS: Readonly<Record<HostSystemErrorCode, readonly [status, string]>> = {
  accessDenied: [status.PERMISSION_DENIED, 'accessDenied'],
  invalidArgument: [status.INVALID_ARGUMENT, 'invalidArgument'],
  notFound: [status.NOT_FOUND, 'notFound'],
  notGranted: [status.PERMISSION_DENIED, 'routeNotGranted'],
  notVerified: [status.INTERNAL, 'notVerified'],
  unavailable: [status.FAILED_PRECONDITION, 'hostUnsupported'],
  unknown: [status.UNKNOWN, 'unknown'],
};

/** Default: FAILED_PRECONDITION. */
const FEATURE_STATUS: Readonly<Partial<Record<FeatureErrorCode, status>>> = {
  auditUnavailable: status.UNAVAILABLE,
  busy: status.RESOURCE_EXHAUSTED,
  invalidSince: status.INVALID_ARGUMENT,
  shuttingDown: status.UNAVAILABLE,
  tooManyFollowers: status.RESOURCE_EXHAUSTED,
};

const INVALID_PATH: ReadonlySet<ProcessErrorCode> = new Set(['invalidPath', 'pathNotAllowed']);

export function rpcError(code: status, reason: string, details: string) {
  const metadata = new Metadata();
  metadata.set(ERROR_METADATA_KEY, reason);
  return { code, details, metadata };
}

export function toRpcError(error: unknown): Partial<ServiceError> {
  if (error instanceof ProcessError) {
    const prefix = INVALID_PATH.has(error.code) ? 'invalid path: ' : '';
    const statuses: Readonly<Partial<Record<ProcessErrorCode, status>>> = STATUS;
    const code = statuses[error.code] ?? status.PERMISSION_DENIED;
    return rpcError(code, error.code, prefix + error.message);
  }
  const details = messageOf(error);
  const hostCode = hostSystemErrorCode(error);
  if (hostCode !== undefined) return rpcError(...HOST_STATUS[hostCode], details);
  if (!isFeatureError(error)) return { code: status.INTERNAL, details };
  return rpcError(FEATURE_STATUS[error.code] ?? status.FAILED_PRECONDITION, error.code, details);
}

export function respondWith<Answer>(
  respond: sendUnaryData<Answer>,
  answer: Promise<Answer>,
  failure = toRpcError,
): void {
  answer.then(
    (message) => respond(null, message),
    (error: unknown) => respond(failure(error)),
  );
}

/** Serves a unary call with an asynchronous function. */
export function answering<Request, Answer>(
  answer: (call: ServerUnaryCall<Request, Answer>) => Promise<Answer>,
): handleUnaryCall<Request, Answer> {
  return (call, respond) => respondWith(respond, answer(call));
}
