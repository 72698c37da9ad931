/**
 * A clock, a back-off, a reconciler and a token bucket. An `AbortSignal` can end every wait. Imports only Node.
 *
 * @example
 * const backoff = new Backoff({ initialMs: 1_000, maxMs: 60_000 });
 * for (;;) {
 *   try {
 *     return await connect(signal);
 *   } catch {
 *     await backoff.wait({ signal });
 *   }
 * }
 * @packageDocumentation
 */
export { Backoff, backoffMs, type BackoffOptions, type BackoffWaitOptions } from './backoff.js';
export { systemClock, type Clock } from './clock.js';
export { Reconciler, type ReconcilerOptions } from './reconciler.js';
export { TokenBucket, type Rate } from './token-bucket.js';
