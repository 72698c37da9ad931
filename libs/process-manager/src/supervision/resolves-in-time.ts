/** Whether a promise, which must never reject, resolves within `limitMs`. Settles as soon as that is known. */
export function resolvesInTime(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
