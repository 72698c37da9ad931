import { TrustedFileError, type TrustRule } from '@wins/trusted-files';
import { errnoOf } from '@wins/wins-program';
import { LinuxError, type LinuxErrorCode } from '../linux-error.js';

/** The codes with which a process host fails; they are those of its user. */
export type HostFailureCode =
  | 'invalidArgument'
  | 'notFound'
  | 'pathNotTrusted'
  | 'spawnFailed'
  | 'stateUnavailable'
  | 'unknown';

/** Facts that go with a failure. */
export interface HostFailureDetails {
  readonly cause?: unknown;
  readonly path?: string;
  /** The rule that refused, such as `A7 symbolic link`. */
  readonly rule?: TrustRule;
}

/** Makes an error of the class that the host's user expects. */
export type MakeHostFailure = (
  code: HostFailureCode,
  message: string,
  details: HostFailureDetails,
) => Error;

const CODES: Readonly<Record<HostFailureCode, LinuxErrorCode>> = {
  invalidArgument: 'invalidArgument',
  notFound: 'notFound',
  pathNotTrusted: 'accessDenied',
  spawnFailed: 'unknown',
  stateUnavailable: 'unknown',
  unknown: 'unknown',
};

/** The default. */
export const linuxFailure: MakeHostFailure = (code, message, { cause }) =>
  new LinuxError(CODES[code], message, cause === undefined ? undefined : { cause });

/** A failure to inspect a path. */
export function inspectionFailure(error: unknown): {
  readonly code: HostFailureCode;
  readonly message: string;
  readonly cause: unknown;
} {
  if (!(error instanceof TrustedFileError)) throw error;
  const code = error.code === 'notFound' ? 'notFound' : 'unknown';
  return { code, message: error.message, cause: error.cause ?? error };
}

/** The code for a failure to start a program: arguments that are too long are the only limit that a request itself can exceed. */
export function startCode(error: unknown): HostFailureCode {
  return errnoOf(error) === 'E2BIG' ? 'invalidArgument' : 'spawnFailed';
}
