import { symbolOf } from './win32/calls/error-symbols.js';

/** What kind of failure it was. */
export type WindowsErrorCode =
  /** Not this operating system, or a feature of it that is not installed. */
  | 'unavailable'
  | 'accessDenied'
  | 'notFound'
  | 'alreadyExists'
  | 'busy'
  | 'invalidArgument'
  /** The system says that it did it, and did not. */
  | 'notVerified'
  | 'timeout'
  | 'unknown';

/** The system's own account of a failure. */
export interface SystemFailure {
  /** The call that failed, such as `CreateServiceW`. */
  readonly functionName: string;
  /** Its Win32 error code, such as 5. */
  readonly errorNumber: number;
}

/** Every failure of this library. The message says what was tried, on what, what was found and what was wanted. */
export class WindowsError extends Error {
  override readonly name = 'WindowsError';
  /** The name of the system's error code, such as `ERROR_ACCESS_DENIED`. */
  readonly symbol: string | undefined;
  readonly functionName: string | undefined;
  readonly errorNumber: number | undefined;

  constructor(
    readonly code: WindowsErrorCode,
    message: string,
    options: { readonly cause?: unknown; readonly failure?: SystemFailure } = {},
  ) {
    super(message, 'cause' in options ? { cause: options.cause } : {});
    this.functionName = options.failure?.functionName;
    this.errorNumber = options.failure?.errorNumber;
    this.symbol = options.failure && symbolOf(options.failure.errorNumber);
  }
}

/** What `act` gives; undefined when the system says that it is not there. @throws what else it throws. */
export function unlessAbsent<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (error instanceof WindowsError && error.code === 'notFound') return undefined;
    throw error;
  }
}

const CODES: ReadonlyMap<number, WindowsErrorCode> = new Map([
  [2, 'notFound'],
  [3, 'notFound'],
  [5, 'accessDenied'],
  [32, 'busy'],
  [80, 'alreadyExists'],
  [87, 'invalidArgument'],
  [123, 'invalidArgument'],
  [183, 'alreadyExists'],
  [231, 'busy'],
  [258, 'timeout'],
  [1018, 'notFound'],
  [1051, 'busy'],
  [1053, 'timeout'],
  [1060, 'notFound'],
  [1061, 'busy'],
  [1072, 'busy'],
  [1073, 'alreadyExists'],
  [1168, 'notFound'],
  [0x803b0001, 'notFound'],
  [1307, 'accessDenied'],
]);

/** Translates a failed call. `tried` begins the message: what was tried and on what. */
export function systemError(tried: string, failure: SystemFailure): WindowsError {
  const { functionName, errorNumber } = failure;
  const symbol = symbolOf(errorNumber);
  const found = symbol === undefined ? `error ${errorNumber}` : `${symbol} (${errorNumber})`;
  const code = CODES.get(errorNumber) ?? 'unknown';
  return new WindowsError(code, `${tried}: ${functionName} failed with ${found}`, { failure });
}
