export const EXCUSES = 5;

/**
 * Calls back after a time-out, without keeping the process alive. After a stall, Node runs timers before it reads the input that arrived
 * meanwhile. So the timer defers the callback with `setImmediate` until that input is read: a stall costs no client its connection.
 */
export class Deadline {
  #timer: NodeJS.Timeout | undefined;
  #last: NodeJS.Immediate | undefined;
  #excuses = EXCUSES;
  readonly #ms: number;
  readonly #over: () => void;
  readonly #isExcused: () => boolean;

  /** If `isExcused` returns true at the time-out, the time restarts, at most {@link EXCUSES} times. */
  constructor(ms: number, over: () => void, isExcused: () => boolean = () => false) {
    this.#ms = ms;
    this.#over = over;
    this.#isExcused = isExcused;
  }

  start(): void {
    this.#excuses = EXCUSES;
    this.#begin();
  }

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
