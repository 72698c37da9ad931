import type { TrustRule } from '@wins/trusted-files';
import { WindowsError } from '../windows-error.js';

/** What a process host fails with, in the words of its user. */
export type HostFailureCode =
  | 'invalidArgument'
  | 'notFound'
  | 'pathNotTrusted'
  | 'spawnFailed'
  | 'stagingFailed'
  | 'stateUnavailable'
  | 'unknown';

/** Facts that go with a failure. */
export interface HostFailureDetails {
  readonly cause?: unknown;
  readonly path?: string;
  /** The rule that refused, such as `A7 link or junction`. */
  readonly rule?: TrustRule;
}

/** Makes an error of the class that the host's user expects. */
export type MakeHostFailure = (
  code: HostFailureCode,
  message: string,
  details: HostFailureDetails,
) => Error;

/** `notFound` when there is no such file. */
export function inspectionCode(error: unknown): HostFailureCode {
  return error instanceof WindowsError && error.code === 'notFound' ? 'notFound' : 'unknown';
}

/** `invalidArgument` when this library refused; what the system refuses is no fault of a request that others have judged. */
export function startCode(error: unknown): HostFailureCode {
  const refused = error instanceof WindowsError && error.code === 'invalidArgument';
  return refused && error.functionName === undefined ? 'invalidArgument' : 'spawnFailed';
}

/** The default: the system's own error where there is one. */
export function windowsFailure(
  code: HostFailureCode,
  message: string,
  { cause }: HostFailureDetails,
): WindowsError {
  if (cause instanceof WindowsError) return cause;
  return new WindowsError(code === 'pathNotTrusted' ? 'accessDenied' : 'unknown', message, {
    cause,
  });
}
