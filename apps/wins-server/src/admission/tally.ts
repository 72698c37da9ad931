/** Keys that are counted apart in one period; beyond it all others are counted together. */
const MOST_KEYS = 256;
const PERIOD_MS = 1000;
const OTHERS = 'others';

/**
 * Tells of what may come in floods: the first of a kind at once, and how many more there were when a second is over. Nothing is
 * left out of the numbers.
 */
export class Tally<Facts extends object> implements Disposable {
  readonly #counts = new Map<string, { readonly facts: Facts; more: number }>();
  #timer: NodeJS.Timeout | undefined;

  readonly #tell: (facts: Facts, times: number) => void;

  /** @param tell - Told of one (`times` 1), or how often it came after that. */
  constructor(tell: (facts: Facts, times: number) => void) {
    this.#tell = tell;
  }

  /** Counts one of a kind. Of a kind the facts are those of its first. */
  add(kind: string, facts: Facts): void {
    const key = this.#counts.size < MOST_KEYS || this.#counts.has(kind) ? kind : OTHERS;
    const known = this.#counts.get(key);
    if (known !== undefined) {
      known.more += 1;
      return;
    }
    this.#counts.set(key, { facts, more: 0 });
    this.#timer ??= setTimeout(() => this.#tellCounts(), PERIOD_MS).unref();
    this.#tell(facts, 1);
  }

  /** Tells what was counted. */
  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
    this.#tellCounts();
  }

  #tellCounts(): void {
    this.#timer = undefined;
    for (const { facts, more } of this.#counts.values()) if (more > 0) this.#tell(facts, more);
    this.#counts.clear();
  }
}
