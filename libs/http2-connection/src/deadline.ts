/** How often a deadline begins anew for an excuse, before it is over. */
export const EXCUSES = 5;

/**
 * Tells when a time is over, unless it is stopped before. Keeps no process alive.
 *
 * After a stall of this process timers run before what came meanwhile is read; an immediate runs after, so that a client does
 * not pay for our delay.
 */
export class Deadline {
  #timer: NodeJS.Timeout | undefined;
  #last: NodeJS.Immediate | undefined;
  #excuses = EXCUSES;

  readonly #ms: number;
  readonly #over: () => void;
  readonly #isExcused: () => boolean;

  /**
   * @param ms - Milliseconds.
   * @param isExcused - Whether it begins anew in place of being over, at most {@link EXCUSES} times. Default: never.
   */
  constructor(ms: number, over: () => void, isExcused: () => boolean = () => false) {
    this.#ms = ms;
    this.#over = over;
    this.#isExcused = isExcused;
  }

  /** Begins, or begins anew. */
  start(): void {
    this.#excuses = EXCUSES;
    this.#begin();
  }

  /** Begins unless it has begun. */
  continue(): void {
    if (this.#timer === undefined) this.start();
  }

  stop(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#last);
    this.#timer = undefined;
  }

  #begin(): void {
    this.stop();
    this.#timer = setTimeout(() => {
      this.#last = setImmediate(() => {
        this.#excuses -= 1;
        if (this.#excuses >= 0 && this.#isExcused()) this.#begin();
        else this.#over();
      });
    }, this.#ms);
    this.#timer.unref();
  }
}
