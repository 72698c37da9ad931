const FIRST_MS = 1000;
const MAX_MS = 60_000;

/**
 * Waits that double from one failure to the next, from 1 s to 60 s, each shortened at random by up to a half, so that a thousand nodes
 * do not come back at once.
 */
export class BackOff {
  #failures = 0;

  nextMs(): number {
    const fullMs = Math.min(FIRST_MS * 2 ** Math.min(this.#failures, 30), MAX_MS);
    this.#failures += 1;
    return Math.round(fullMs * (1 - Math.random() / 2));
  }

  reset(): void {
    this.#failures = 0;
  }
}
