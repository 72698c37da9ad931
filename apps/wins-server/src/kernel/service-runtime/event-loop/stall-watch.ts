/** How {@link watchStalls} looks. */
export interface StallWatchOptions {
  /** Called with the time for which the event loop was blocked, in milliseconds. */
  readonly stalled: (lateMs: number) => void;
  /** Between two looks, in milliseconds. Default 1,000. */
  readonly intervalMs?: number;
  /** How late a look must be to count, in milliseconds. Default 1,000. */
  readonly toleranceMs?: number;
}

/**
 * Watches for a blocked event loop: a daemon that had no processor, or that computed for too long, explains much of what its
 * clients saw. Disposing ends it; it keeps no process alive.
 */
export function watchStalls({
  stalled,
  intervalMs = 1000,
  toleranceMs = 1000,
}: StallWatchOptions): Disposable {
  let due = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - due >= toleranceMs) stalled(Math.round(now - due));
    due = now + intervalMs;
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
