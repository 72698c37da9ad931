/**
 * Reason of a failure. The list is closed, so that a switch over it can be exhaustive.
 *
 * - `unavailable`: the system is not Windows, lacks the feature or a system program, ignores the limits of a job, or the addon cannot be loaded.
 * - `accessDenied`: this account may not do it, or other users could change the program to run.
 * - `notFound`: the service, process, adapter, network, route, registry key or other object does not exist.
 * - `alreadyExists`: a file, a service or another object of this name exists.
 * - `busy`: the object is in use, for example by another program or by containers, or the service is in a state that forbids the call.
 * - `invalidArgument`: this library or the system does not accept an argument. Without `functionName`, nothing was done.
 * - `notVerified`: the system reported success, but a check found another result.
 * - `timeout`: a service did not reach the state, or a process did not end, in time.
 * - `unknown`: any other failure; `errorNumber` is its number, if a call of the system failed.
 */
export type WindowsErrorCode =
  | 'unavailable'
  | 'accessDenied'
  | 'notFound'
  | 'alreadyExists'
  | 'busy'
  | 'invalidArgument'
  | 'notVerified'
  | 'timeout'
  | 'unknown';

/** The system's report of a failure. */
export interface SystemFailure {
  /** The call that failed, such as `CreateServiceW`. */
  readonly functionName: string;
  /** Win32 error code of the call, such as 5. */
  readonly errorNumber: number;
}

/** The only error class of this library. */
export class WindowsError extends Error {
  override readonly name = 'WindowsError';
  /** The name of the system's error code, such as `ERROR_ACCESS_DENIED`. */
  readonly symbol: string | undefined;
  /** Windows function that failed. */
  readonly functionName: string | undefined;
  /** Win32 error code; undefined when no call of the system failed. */
  readonly errorNumber: number | undefined;

  constructor(
    readonly code: WindowsErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly failure?: SystemFailure | undefined } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.functionName = options.failure?.functionName;
    this.errorNumber = options.failure?.errorNumber;
    this.symbol = options.failure && meaningOf(options.failure.errorNumber)[0];
  }
}

/** Known error codes of the calls of this library, https://learn.microsoft.com/windows/win32/debug/system-error-codes */
const ERRORS: Readonly<Partial<Record<WindowsErrorCode, string>>> = {
  notFound:
    '2 ERROR_FILE_NOT_FOUND 3 ERROR_PATH_NOT_FOUND 1018 ERROR_KEY_DELETED ' +
    '1060 ERROR_SERVICE_DOES_NOT_EXIST 1168 ERROR_NOT_FOUND ' +
    '2151350273 HCN_E_NETWORK_NOT_FOUND',
  accessDenied: '5 ERROR_ACCESS_DENIED 1307 ERROR_INVALID_OWNER',
  unknown:
    '6 ERROR_INVALID_HANDLE 8 ERROR_NOT_ENOUGH_MEMORY 50 ERROR_NOT_SUPPORTED ' +
    '109 ERROR_BROKEN_PIPE 111 ERROR_BUFFER_OVERFLOW 120 ERROR_CALL_NOT_IMPLEMENTED ' +
    '122 ERROR_INSUFFICIENT_BUFFER 124 ERROR_INVALID_LEVEL 193 ERROR_BAD_EXE_FORMAT ' +
    '206 ERROR_FILENAME_EXCED_RANGE 232 ERROR_NO_DATA 234 ERROR_MORE_DATA ' +
    '259 ERROR_NO_MORE_ITEMS 535 ERROR_PIPE_CONNECTED 740 ERROR_ELEVATION_REQUIRED ' +
    '995 ERROR_OPERATION_ABORTED 997 ERROR_IO_PENDING 1055 ERROR_SERVICE_DATABASE_LOCKED ' +
    '1056 ERROR_SERVICE_ALREADY_RUNNING 1058 ERROR_SERVICE_DISABLED ' +
    '1059 ERROR_CIRCULAR_DEPENDENCY 1062 ERROR_SERVICE_NOT_ACTIVE ' +
    '1063 ERROR_FAILED_SERVICE_CONTROLLER_CONNECT 1065 ERROR_DATABASE_DOES_NOT_EXIST ' +
    '1066 ERROR_SERVICE_SPECIFIC_ERROR 1314 ERROR_PRIVILEGE_NOT_HELD ' +
    '1336 ERROR_INVALID_ACL 1337 ERROR_INVALID_SID 1338 ERROR_INVALID_SECURITY_DESCR ' +
    '5010 ERROR_OBJECT_ALREADY_EXISTS',
  busy:
    '32 ERROR_SHARING_VIOLATION 231 ERROR_PIPE_BUSY 1051 ERROR_DEPENDENT_SERVICES_RUNNING ' +
    '1061 ERROR_SERVICE_CANNOT_ACCEPT_CTRL 1072 ERROR_SERVICE_MARKED_FOR_DELETE',
  alreadyExists: '80 ERROR_FILE_EXISTS 183 ERROR_ALREADY_EXISTS 1073 ERROR_SERVICE_EXISTS',
  invalidArgument: '87 ERROR_INVALID_PARAMETER 123 ERROR_INVALID_NAME',
  timeout: '258 WAIT_TIMEOUT 1053 ERROR_SERVICE_REQUEST_TIMEOUT',
};

function meaningOf(errorNumber: number): readonly [symbol: string | undefined, WindowsErrorCode] {
  for (const [code, texts] of Object.entries(ERRORS)) {
    const symbol = new RegExp(`(?:^| )${errorNumber} (\\w+)`).exec(texts)?.[1];
    if (symbol !== undefined) return [symbol, code as WindowsErrorCode];
  }
  return [undefined, 'unknown'];
}

/** The message begins with `tried`, which names the operation and its object. */
export function systemError(tried: string, failure: SystemFailure): WindowsError {
  const { functionName, errorNumber } = failure;
  const [symbol, code] = meaningOf(errorNumber);
  const found = symbol === undefined ? `error ${errorNumber}` : `${symbol} (${errorNumber})`;
  return new WindowsError(code, `${tried}: ${functionName} failed with ${found}`, { failure });
}

/** Returns undefined if `action` throws a WindowsError (with one of `codes`, if there are any). */
export function unlessFails<T>(
  action: () => T,
  ...codes: readonly WindowsErrorCode[]
): T | undefined {
  try {
    return action();
  } catch (error) {
    if (!(error instanceof WindowsError)) throw error;
    if (codes.length > 0 && !codes.includes(error.code)) throw error;
    return undefined;
  }
}

/** An error code of Node, the Windows errors that it replaces, and their meaning. */
export type NodeCode = readonly [code: string, errorNumbers: readonly number[], found: string];

/** Translates an error that matches one of `codes`; returns any other unchanged. */
export function withNodeCode(error: unknown, ...codes: readonly NodeCode[]): unknown {
  if (!(error instanceof WindowsError)) return error;
  const { message, errorNumber = -1 } = error;
  const meant = codes.find(([, errorNumbers]) => errorNumbers.includes(errorNumber));
  if (meant === undefined) return error;
  const [code, , found] = meant;
  return Object.assign(new Error(`${message}: ${found}`, { cause: error }), { code });
}
