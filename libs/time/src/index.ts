/**
 * One clock, one back-off and one token bucket for all packages: waits that an `AbortSignal` ends, delays between
 * attempts, and rate limits.
 *
 * It owns no timer that outlives a wait and imports only Node. It does not decide which failures are worth a retry.
 *
 * @example
 * const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000 });
 * for (;;) {
 *   try {
 *     return await connect(signal);
 *   } catch {
 *     await backoff.wait(signal);
 *   }
 * }
 * @packageDocumentation
 */
export { Backoff, backoffMs, type BackoffOptions } from './backoff.js';
export { systemClock, type Clock } from './clock.js';
export { TokenBucket, type Rate } from './token-bucket.js';
