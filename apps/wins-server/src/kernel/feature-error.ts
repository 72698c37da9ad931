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

/** Error codes of a feature of the daemon; the list is closed. */
export type FeatureErrorCode =
  /** Errors of the host, and of requests to it. */
  | HostSystemErrorCode
  /** The feature is off, such as `agentOff`. */
  | `${string}Off`
  | 'shuttingDown'
  /** The audit log cannot take a record now, so the action must not happen. */
  | 'auditUnavailable'
  /** Diagnostics. `busy`: the same recording is already running. `tooLarge`: its result exceeds the limit. */
  | 'busy'
  | 'tooLarge'
  /** Events. */
  | 'eventsUnreadable'
  | 'invalidSince'
  | 'tooManyFollowers'
  /** Metrics: the system refuses the listen address. */
  | 'listenFailed'
  /** csi-proxy: the archive could not be fetched. */
  | 'downloadFailed'
  /** The archive's digest differs from the config's, or from that of this version's first download. */
  | 'digestMismatch'
  /** The file is not an archive, is too large, or contains more than one program. */
  | 'archiveRefused'
  /** A file or folder could not be read, written or trusted. */
  | 'fileFailed'
  /** The service manager refused, or the service did not follow a command. */
  | 'serviceFailed'
  /** The service runs but its pipe does not appear; the previous installation, if any, was restored. */
  | 'notServing'
  /** The feature ended, or its settings changed. */
  | 'closed';

/** Error of the daemon's features: branch on `code`, show `message`, log `cause`. */
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

/** Returns true for an error of a feature, including one from another bundle, whose class is different but has the same name. */
export function isFeatureError(error: unknown): error is FeatureError {
  return error instanceof Error && error.name === 'FeatureError';
}

/** Returns the code of a host system's error, regardless of its class; undefined for any other value. */
export function hostSystemErrorCode(error: unknown): HostSystemErrorCode | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' && Object.hasOwn(HOST_CODES, code)
    ? (code as HostSystemErrorCode)
    : undefined;
}
