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
  /** The feature ended, or its settings changed. */
  | 'closed';

/** Branch on `code`, show `message`, log `cause`. @typeParam Code - A feature with codes of its own has a subclass for them. */
export class FeatureError<Code extends string = FeatureErrorCode> extends Error {
  override readonly name = 'FeatureError';

  constructor(
    readonly code: NoInfer<Code>,
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
