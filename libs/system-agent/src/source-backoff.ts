import type { BackoffOptions } from '@wins/time';

/** With jitter, so that a thousand nodes do not return to one server at once. */
export const SOURCE_BACKOFF: BackoffOptions = { initialMs: 1_000, maxMs: 60_000 };
