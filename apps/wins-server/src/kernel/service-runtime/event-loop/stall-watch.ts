/**
 * Watches for a blocked event loop: a daemon that had no processor, or that computed for too long, explains much of what its
 * clients saw. Disposing ends it; it keeps no process alive.
 *
 * @param stalled - Called with the time for which the event loop was blocked, in milliseconds.
 * @param intervalMs - Between two looks.
 * @param toleranceMs - How late a look must be to count.
 */
export function watchStalls(
  stalled: (lateMs: number) => void,
  { intervalMs = 1000, toleranceMs = 1000 } = {},
): Disposable {
  let due = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - due >= toleranceMs) stalled(Math.round(now - due));
    due = now + intervalMs;
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
