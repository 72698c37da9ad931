/**
 * Watches for a blocked event loop, which explains much of what clients saw, until disposed of.
 *
 * @param toleranceMs - How late a look must be to count, in `stalled` too.
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
