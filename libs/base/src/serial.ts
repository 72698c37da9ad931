import type { Abortable } from 'node:events';
/** Runs works one at a time, in the order of the calls. A failed work does not stop the next one. */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();

  /**
   * Runs `work` after all works of earlier calls have ended. A work must not wait for a later one, because that waits for it.
   *
   * @param signal - Cancels the call, without a wait for earlier works, as long as `work` has not begun. Default: none.
   * @throws Any error of `work`; the signal's reason.
   */
  async run<T>(work: () => T | Promise<T>, { signal }: Abortable = {}): Promise<T> {
    const before = this.#last;
    const turn = signal === undefined ? before : unlessAborted(before, signal);
    const result = turn.then(() => work());
    // Without the outcomes: each of them would keep all earlier ones in memory.
    this.#last = Promise.allSettled([before, result]).then(() => undefined);
    return await result;
  }

  /** Resolves when no work runs or waits, including those that were added meanwhile. Never rejects. */
  async idle(): Promise<void> {
    for (let last: unknown; last !== this.#last;) await (last = this.#last);
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
