/** Lets one act go on at a time; the others wait in the order in which they came. */
export class Turns {
  #last: Promise<void> = Promise.resolve();

  /** @throws the reason of the signal, when it aborts before the turn came; what `act` throws. */
  async take<T>(signal: AbortSignal, act: () => Promise<T>): Promise<T> {
    const before = this.#last;
    let end = (): void => undefined;
    const ended = new Promise<void>((resolve) => (end = resolve));
    this.#last = before.then(() => ended);
    try {
      await unlessAborted(before, signal);
      return await act();
    } finally {
      end();
    }
  }
}

async function unlessAborted(turn: Promise<void>, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  let give = (): void => undefined;
  const aborted = new Promise<void>((resolve) => (give = resolve));
  signal.addEventListener('abort', give, { once: true });
  await Promise.race([turn, aborted]);
  signal.removeEventListener('abort', give);
  signal.throwIfAborted();
}
