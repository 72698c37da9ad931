import type { HostSystemErrorCode } from './host-system/host-system-error.js';

/** Every way in which a feature of the daemon refuses or fails; the list is closed. */
export type FeatureErrorCode =
  /** Of the host, and of what is asked of it. */
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
  /** Where metrics are served: no address; one that is not of the loopback; one that the system does not give. */
  | 'invalidAddress'
  | 'remoteAddress'
  | 'listenFailed'
  /** Where spans are sent. */
  | 'invalidEndpoint';

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
