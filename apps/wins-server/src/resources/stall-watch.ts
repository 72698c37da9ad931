/** How {@link watchStalls} looks. */
export interface StallWatchOptions {
  /** Told how long nothing could be done, in milliseconds. */
  readonly stalled: (lateMs: number) => void;
  /** Between two looks, in milliseconds. Default 1,000. */
  readonly intervalMs?: number;
  /** How late a look must be to count, in milliseconds. Default 1,000. */
  readonly toleranceMs?: number;
}

/**
 * Watches whether this process gets to do anything: a daemon that stood still, for want of a processor or because
 * something took too long, explains much of what its clients saw. Disposing ends it; it keeps nothing alive.
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
