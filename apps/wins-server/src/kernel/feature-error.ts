const HOST_CODES = {
  notFound: true,
  invalidArgument: true,
  notGranted: true,
  unavailable: true,
  accessDenied: true,
  notVerified: true,
  unknown: true,
} as const;

/** Every way in which a host system refuses or fails; the list is closed. */
export type HostSystemErrorCode = keyof typeof HOST_CODES;

/** Every way in which a feature of the daemon refuses or fails; the list is closed. */
export type FeatureErrorCode =
  /** Codes of the host, and of requests to it. */
  | HostSystemErrorCode
  /** The feature is off: `agentOff`. */
  | `${string}Off`
  | 'shuttingDown'
  /** The audit log cannot take a record now, so what it is about must not happen. */
  | 'auditUnavailable'
  /** Diagnosis: the same is being taken already; it would be, or has become, larger than its limit. */
  | 'busy'
  | 'tooLarge'
  /** Events. */
  | 'eventsUnreadable'
  | 'invalidSince'
  | 'tooManyFollowers'
  /** Where metrics are served: an address that the system does not give. */
  | 'listenFailed'
  /** csi-proxy: the archive could not be fetched. */
  | 'downloadFailed'
  /** It has another digest than the config, or the first download of this version, had. */
  | 'digestMismatch'
  /** It is none, is too large, or holds something else than one program. */
  | 'archiveRefused'
  /** A file or folder could not be read, written or trusted. */
  | 'fileFailed'
  /** The service manager refused, or the service did not do as it was told. */
  | 'serviceFailed'
  /** The service runs, and its pipe does not appear; what was there before was put back, if there was something. */
  | 'notServing'
  /** It is not kept any more, or not as it was wanted. */
  | 'closed';

/** The one error of the daemon's features: branch on `code`, show `message`, log `cause`. */
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

/** Whether an error is of a feature: a part in a program of its own has a class of its own, of the same name. */
export function isFeatureError(error: unknown): error is FeatureError {
  return error instanceof Error && error.name === 'FeatureError';
}

/** The code of an error of a host system, whatever its class; undefined for any other value. */
export function hostSystemErrorCode(error: unknown): HostSystemErrorCode | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  const { code } = error;
  return typeof code === 'string' && Object.hasOwn(HOST_CODES, code)
    ? (code as HostSystemErrorCode)
    : undefined;
}
