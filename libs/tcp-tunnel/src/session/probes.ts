/**
 * Pings and their answers. A peer answers each ping, in order, and not before it has acted on what was sent ahead of it; a Go server that
 * refused a Connect answers none any more. Answers are counted, since the pongs of remotedialer are empty.
 */
export class Probes {
  #pings = 0;
  #pongs = 0;
  #isOver = false;
  readonly #waiting = new Set<{ ping: number; settle: (isAnswered: boolean) => void }>();

  /** A ping goes out. */
  sent(): void {
    this.#pings += 1;
  }

  /** An answer came. */
  answered(): void {
    this.#pongs += 1;
    for (const asked of this.#waiting) {
      if (asked.ping > this.#pongs) continue;
      this.#waiting.delete(asked);
      asked.settle(true);
    }
  }

  /** Resolves with true at the answer to the last ping, and with false when none can come any more. */
  next(): Promise<boolean> {
    if (this.#isOver) return Promise.resolve(false);
    return new Promise((settle) => this.#waiting.add({ ping: this.#pings, settle }));
  }

  /** Nothing comes any more. */
  end(): void {
    this.#isOver = true;
    for (const { settle } of this.#waiting) settle(false);
    this.#waiting.clear();
  }
}
