const HOST_CODES = {
  notFound: true,
  invalidArgument: true,
  notGranted: true,
  unavailable: true,
  accessDenied: true,
  notVerified: true,
  unknown: true,
} as const;

export type HostSystemErrorCode = keyof typeof HOST_CODES;

export type FeatureErrorCode =
  | HostSystemErrorCode
  /** A feature is off, as in `agentOff`. */
  | `${string}Off`
  | 'shuttingDown'
  /** The action must not happen, because the audit log cannot record it. */
  | 'auditUnavailable'
  /** Diagnostics. `busy`: the same recording is already running. `tooLarge`: the result of a recording exceeds the limit. */
  | 'busy'
  | 'tooLarge'
  | 'eventsUnreadable'
  | 'invalidSince'
  | 'tooManyFollowers'
  /** Metrics: the system refuses the listen address. */
  | 'listenFailed'
  /** csi-proxy: the download failed. */
  | 'downloadFailed'
  /** The digest of the archive differs from the config, or from the first download of this version. */
  | 'digestMismatch'
  /** The file is not an archive, is too large, or does not contain exactly one program. */
  | 'archiveRefused'
  | 'fileFailed'
  /** The service manager refused, or the service did not follow a command. */
  | 'serviceFailed'
  /** The service runs without its pipe; the previous installation, if any, was restored. */
  | 'notServing'
  /** The feature ended, or its settings changed. */
  | 'closed';

/** Branch on `code`, show `message`, log `cause`. */
export class FeatureError extends Error {
  override readonly name = 'FeatureError';

  constructor(
    readonly code: FeatureErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Compares the name, because each bundle has its own class `FeatureError`. */
export function isFeatureError(error: unknown): error is FeatureError {
  return error instanceof Error && error.name === 'FeatureError';
}

/** Returns the code of a host system's error, whatever its class. */
export function hostSystemErrorCode(error: unknown): HostSystemErrorCode | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' && Object.hasOwn(HOST_CODES, code)
    ? (code as HostSystemErrorCode)
    : undefined;
}
