import { FloodLimiter } from './flood-limiter.js';

/** Implemented by pino loggers. */
export interface RepeatLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** In each period, kinds beyond this number are counted together. */
const MOST_KEYS = 256;
const LIMITS = { most: 1, periodMs: 1000, mostKeys: MOST_KEYS };
const OTHERS = 'others';

/** Reports the first event of a kind at once, and one second later how many followed. Kinds beyond 256 in a second are only counted, together. */
export class RepeatCounter<Facts extends object> implements Disposable {
  readonly #limiter = new FloodLimiter(LIMITS);
  readonly #facts = new Map<string, Facts>();
  #timer: NodeJS.Timeout | undefined;

  readonly #report: (facts: Facts, times: number) => void;

  /** @param report - Called at once for the first event, with 1 as `times`, and later with the number of further events of that kind. */
  constructor(report: (facts: Facts, times: number) => void) {
    this.#report = report;
  }

  add(kind: string, facts: Facts): void {
    const key = this.#limiter.isBeyond(kind) ? OTHERS : kind;
    if (!this.#facts.has(key)) this.#facts.set(key, facts);
    this.#timer ??= setTimeout(() => this.#reportCounts(), LIMITS.periodMs).unref();
    if (this.#limiter.admit(kind, OTHERS)) this.#report(facts, 1);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#reportCounts();
  }

  #reportCounts(): void {
    this.#timer = undefined;
    for (const [key, times] of this.#limiter.turn(0, true)) {
      const facts = this.#facts.get(key);
      if (facts !== undefined) this.#report(facts, times);
    }
    this.#facts.clear();
  }
}

export function repeatLog(logger: RepeatLogger, level: 'info' | 'warn', message: string) {
  return new RepeatCounter((facts, times) => logger[level]({ ...facts, times }, message));
}
