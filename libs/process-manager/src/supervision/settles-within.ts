/** Whether a promise resolves in time; it must never reject. Resolves when it is known. */
export function settlesWithin(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
