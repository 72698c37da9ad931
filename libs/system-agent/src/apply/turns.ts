/** Runs one function at a time; the others wait in order of arrival. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** @throws the reason of the signal, when it aborts before the turn came; what `act` throws. */
  async take<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    const before = this.#last;
    const turn = unlessAborted(before, signal).then(act);
    this.#last = Promise.allSettled([before, turn]);
    return await turn;
  }
}

async function unlessAborted(turn: Promise<unknown>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let give = (): void => undefined;
  const aborted = new Promise<void>((resolve) => (give = resolve));
  signal.addEventListener('abort', give, { once: true });
  await Promise.race([turn, aborted]);
  signal.removeEventListener('abort', give);
  signal.throwIfAborted();
}
