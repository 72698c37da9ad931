import { RancherError } from '../rancher-error.js';
import { withoutSecrets } from './foreign-text.js';

/** An error whose message, trace and causes hold none of the secrets: itself where that is so already. */
export function maskedError(error: RancherError, secrets: readonly string[]): RancherError {
  const { cause, code, status, retryAfterMs, isTransient } = error;
  const ownCause = cause instanceof RancherError ? maskedError(cause, secrets) : cause;
  const message = withoutSecrets(error.message, secrets);
  if (message === error.message && ownCause === cause) return error;
  // The trace begins with the message: another message takes another error.
  return new RancherError(code, message, {
    isTransient,
    ...(ownCause !== undefined && { cause: ownCause }),
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
