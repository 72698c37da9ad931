import type { BackoffOptions } from '@wins/time';

/** Waits of a source of plans between attempts. A thousand nodes of one server do not come back at once. */
export const SOURCE_BACKOFF: BackoffOptions = { initialMs: 1_000, maxMs: 60_000 };
