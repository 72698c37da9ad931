/** Limits and time-outs of a {@link UdpTracker}. */
export interface UdpTrackerOptions {
  /**
   * Maximum number of flows. Default 1,024. At the limit, a new flow ends the oldest unassured one
   * (see {@link TrackedFlow.isAssured}). If there is none, the new flow is refused.
   */
  readonly most?: number | undefined;
  /**
   * Maximum number of flows of one source. Default: `most`. At the limit, the source's oldest unassured flow ends. If there is
   * none, the new flow is refused.
   */
  readonly mostOfSource?: number | undefined;
  /** A flow that is not assured ends after this long without a datagram. Default 30,000 ms. */
  readonly oneWayMs?: number | undefined;
  /** An assured flow ends after this long without a datagram. Default 120,000 ms. */
  readonly bothWaysMs?: number | undefined;
  /** The monotonic clock, in milliseconds. */
  readonly now?: (() => number) | undefined;
}

/** One flow of a {@link UdpTracker}. Its owner reports each datagram, so that the tracker knows when the flow is idle. */
export interface TrackedFlow extends Disposable {
  /**
   * True once datagrams went both ways and the source sent again. The address is then not forged, and a newer flow does
   * not end this one.
   */
  readonly isAssured: boolean;
  /** Reports a datagram from the source. */
  sent(): void;
  /** Reports a datagram to the source. */
  replied(): void;
  /** Stops tracking a flow that has ended. Idempotent. */
  release(): void;
}

interface Source {
  count: number;
  readonly unassured: Set<Entry>;
}

interface Entry extends TrackedFlow {
  isAssured: boolean;
  isAnswered: boolean;
  lastAt: number;
  readonly end: () => void;
}

/** Maximum interval between checks for idle flows. */
const MOST_SWEEP_MS = 5_000;

/**
 * Ends idle flows, because UDP signals no end, and limits the number of flows. A flood from forged addresses cannot end an
 * assured flow (see {@link TrackedFlow.isAssured}). Uses a timer only while flows exist.
 */
export class UdpTracker implements Disposable {
  readonly #most: number;
  readonly #mostOfSource: number;
  readonly #oneWayMs: number;
  readonly #bothWaysMs: number;
  readonly #now: () => number;
  readonly #all = new Set<Entry>();
  /** Oldest first. */
  readonly #unassured = new Set<Entry>();
  readonly #sources = new Map<string, Source>();
  #timer: NodeJS.Timeout | undefined;

  constructor(options: UdpTrackerOptions = {}) {
    this.#most = options.most ?? 1024;
    this.#mostOfSource = options.mostOfSource ?? this.#most;
    this.#oneWayMs = options.oneWayMs ?? 30_000;
    this.#bothWaysMs = options.bothWaysMs ?? 120_000;
    this.#now = options.now ?? (() => performance.now());
  }

  /** Number of flows now. */
  get size(): number {
    return this.#all.size;
  }

  /**
   * Tracks a new flow; returns undefined when the limits refuse the flow.
   *
   * @param source - Address of the source, without its port, because a source can change the port at no cost.
   * @param end - Called to end the flow, after the tracker has released it.
   */
  track(source: string, end: () => void): TrackedFlow | undefined {
    const of = this.#sources.get(source) ?? { count: 0, unassured: new Set() };
    if (of.count >= this.#mostOfSource && !this.#endFirst(of.unassured)) return undefined;
    if (this.#all.size >= this.#most && !this.#endFirst(this.#unassured)) return undefined;
    const entry: Entry = {
      isAssured: false,
      isAnswered: false,
      lastAt: this.#now(),
      end,
      sent: () => {
        entry.lastAt = this.#now();
        if (!entry.isAnswered || entry.isAssured) return;
        entry.isAssured = true;
        this.#unassured.delete(entry);
        of.unassured.delete(entry);
      },
      replied: () => {
        entry.lastAt = this.#now();
        entry.isAnswered = true;
      },
      release: () => {
        if (!this.#all.delete(entry)) return;
        this.#unassured.delete(entry);
        of.unassured.delete(entry);
        of.count -= 1;
        if (of.count === 0) this.#sources.delete(source);
        if (this.#all.size === 0) this[Symbol.dispose]();
      },
      [Symbol.dispose]: () => entry.release(),
    };
    this.#all.add(entry);
    this.#unassured.add(entry);
    of.unassured.add(entry);
    of.count += 1;
    this.#sources.set(source, of);
    this.#timer ??= setInterval(
      () => this.sweep(),
      Math.min(MOST_SWEEP_MS, this.#oneWayMs, this.#bothWaysMs),
    ).unref();
    return entry;
  }

  sweep(): void {
    const now = this.#now();
    for (const entry of [...this.#all]) {
      const idleMs = entry.isAssured ? this.#bothWaysMs : this.#oneWayMs;
      if (now - entry.lastAt >= idleMs) this.#end(entry);
    }
  }

  /** Does not end the tracked flows. */
  [Symbol.dispose](): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #endFirst(entries: ReadonlySet<Entry>): boolean {
    for (const entry of entries) {
      this.#end(entry);
      return true;
    }
    return false;
  }

  #end(entry: Entry): void {
    entry.release();
    entry.end();
  }
}
