export interface FloodLimits {
  /** Admitted events of each key in a period. */
  readonly most: number;
  readonly periodMs: number;
  /** Keys that have a limit of their own in a period. */
  readonly mostKeys: number;
}

/** In each period, admits the first events of each key and counts the others. */
export class FloodLimiter {
  readonly #limits: FloodLimits;
  readonly #seen = new Map<string, number>();
  readonly #counted = new Map<string, number>();
  #startMs = 0;

  constructor(limits: FloodLimits) {
    this.#limits = limits;
  }

  /** Whether a key has no limit of its own, because other keys of this period have them all. */
  isBeyond(key: string): boolean {
    return !this.#seen.has(key) && this.#seen.size >= this.#limits.mostKeys;
  }

  /** Returns false for an event that is only counted. An event beyond the known keys is counted as `others`. */
  admit(key: string, others: string): boolean {
    const isBeyond = this.isBeyond(key);
    const seen = (this.#seen.get(key) ?? 0) + 1;
    if (!isBeyond) this.#seen.set(key, seen);
    if (!isBeyond && seen <= this.#limits.most) return true;
    this.count(isBeyond ? others : key);
    return false;
  }

  /** Counts an event that the caller does not admit. */
  count(key: string): void {
    this.#counted.set(key, (this.#counted.get(key) ?? 0) + 1);
  }

  /** Milliseconds until the period ends, if something was counted. */
  dueInMs(nowMs: number): number | undefined {
    if (this.#counted.size === 0) return undefined;
    return Math.max(0, this.#startMs + this.#limits.periodMs - nowMs);
  }

  /** Starts a new period if the old one is over or `force` is true. Returns what the old one has counted. `nowMs` is a monotonic time. */
  turn(nowMs: number, force = false): ReadonlyMap<string, number> {
    if (!force && nowMs - this.#startMs < this.#limits.periodMs) return new Map();
    this.#startMs = nowMs;
    const counted = new Map(this.#counted);
    this.#seen.clear();
    this.#counted.clear();
    return counted;
  }
}
