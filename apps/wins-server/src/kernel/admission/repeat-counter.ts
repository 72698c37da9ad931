/** Implemented by pino loggers. */
export interface RepeatLogger {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

/** In each period, kinds beyond this number are counted together. */
const MOST_KEYS = 256;
const PERIOD_MS = 1000;
const OTHERS = 'others';

/** Reports the first event of a kind at once, and one second later how many followed. */
export class RepeatCounter<Facts extends object> implements Disposable {
  readonly #counts = new Map<string, { readonly facts: Facts; more: number }>();
  #timer: NodeJS.Timeout | undefined;

  readonly #report: (facts: Facts, times: number) => void;

  /** @param report - Called at once for the first event, with 1 as `times`, and later with the number of further events of that kind. */
  constructor(report: (facts: Facts, times: number) => void) {
    this.#report = report;
  }

  add(kind: string, facts: Facts): void {
    const key = this.#counts.size < MOST_KEYS || this.#counts.has(kind) ? kind : OTHERS;
    const known = this.#counts.get(key);
    if (known !== undefined) {
      known.more += 1;
      return;
    }
    this.#counts.set(key, { facts, more: 0 });
    this.#timer ??= setTimeout(() => this.#reportCounts(), PERIOD_MS).unref();
    this.#report(facts, 1);
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#reportCounts();
  }

  #reportCounts(): void {
    this.#timer = undefined;
    for (const { facts, more } of this.#counts.values()) if (more > 0) this.#report(facts, more);
    this.#counts.clear();
  }
}

export function repeatLog(logger: RepeatLogger, level: 'info' | 'warn', message: string) {
  return new RepeatCounter((facts, times) => logger[level]({ ...facts, times }, message));
}
