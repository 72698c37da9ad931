/** What `performance.now()` is in a bundle: milliseconds of a clock that is never set, from a beginning that means nothing. */
export function monotonicMs() {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1e3 + nanoseconds / 1e6;
}
