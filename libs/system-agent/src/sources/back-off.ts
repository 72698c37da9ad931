/** Waits that double from one failure to the next, each shortened at random by up to a half, so that a thousand nodes do not come back at once. */
export class BackOff {
  readonly #firstMs: number;
  readonly #maxMs: number;
  #failures = 0;

  constructor(limits: { readonly firstMs: number; readonly maxMs: number }) {
    this.#firstMs = limits.firstMs;
    this.#maxMs = limits.maxMs;
  }

  nextMs(): number {
    const fullMs = Math.min(this.#firstMs * 2 ** Math.min(this.#failures, 30), this.#maxMs);
    this.#failures += 1;
    return Math.round(fullMs * (1 - Math.random() / 2));
  }

  reset(): void {
    this.#failures = 0;
  }
}
