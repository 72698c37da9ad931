import { EventShares } from './event-share.js';
import {
  boundedFacts,
  encodeEvent,
  isIn,
  readEvents,
  type EventFacts,
  type EventRange,
  type RingEvent,
  type UnnumberedEvent,
} from './ring-files.js';
import { SegmentWriter } from './segment-writer.js';

const MAX_WAITING = 2_048;
const GATHER_MS = 100;
/** An answer to a client of wins may have 2 MiB. */
const PAGE_BYTES = 2 ** 20;
/** Recent events in memory; each has at most 8 KiB. */
const RECENT = 128;
const RETRY_MS = 1_000;

export interface EventRingOptions {
  /** Absolute path of a folder that only this ring uses. Only one ring at a time may be open there. */
  readonly directory: string;
  /** Keeps this many of the newest events, if they fit in `maxBytes`. Some older events may stay, too. Default 10,000. */
  readonly maxEvents?: number;
  /** Maximum size of all files. Default: 8 MiB. */
  readonly maxBytes?: number;
  /** Creates the folder, or throws for an unsafe one. */
  readonly prepareDirectory: (directory: string) => void | Promise<void>;
  /** Called with false and the reason when events can no longer be written, and with true when they can. Must not throw. */
  readonly onChange?: (isAvailable: boolean, reason?: unknown) => void;
  /** Monotonic clock in milliseconds. Default: that of Node. */
  readonly nowMs?: () => number;
}

export interface EventPage {
  /** One JSON object an event. */
  readonly lines: readonly string[];
  /** `after` for the next page. */
  readonly next: number;
  readonly isPart: boolean;
}

export interface PageOptions extends EventRange {
  /** Waits for an event until this signal aborts; the page is then empty. Default: does not wait. */
  readonly waitUntil?: AbortSignal;
}

/**
 * Keeps the newest events. They are written ten times a second but not flushed, so a system crash may lose some. While the disk is unavailable, 2,048
 * events are queued, and further ones are counted and reported.
 */
export class EventRing implements AsyncDisposable {
  readonly #writer: SegmentWriter;
  readonly #shares: EventShares;
  readonly #onChange: NonNullable<EventRingOptions['onChange']>;
  readonly #directory: string;
  readonly #waiters = new Set<() => void>();
  #waiting: UnnumberedEvent[] = [];
  /** The newest written events, with consecutive numbers. Thanks to them, followers need not read a file ten times a second. */
  #recent: readonly RingEvent[] = [];
  /** Dropped events not yet reported. */
  #lost = 0;
  #isAvailable: boolean | undefined;
  #timer: NodeJS.Timeout | undefined;
  #countsTimer: NodeJS.Timeout | undefined;
  #writing: Promise<void> | undefined;
  #isClosed = false;

  constructor(options: EventRingOptions) {
    const { directory, prepareDirectory, onChange = () => undefined } = options;
    const { maxEvents = 10_000, maxBytes = 2 ** 23, nowMs = () => performance.now() } = options;
    this.#directory = directory;
    this.#onChange = onChange;
    this.#shares = new EventShares(nowMs);
    this.#writer = new SegmentWriter({ directory, prepareDirectory, maxEvents, maxBytes });
  }

  /**
   * Adds an event. Facts beyond 16 are dropped, and texts cut at 256 characters. Never throws; a closed ring ignores the event.
   * @param share - Key of events that clients can cause at will. After a burst of 1,000, adds one per second and counts the rest.
   */
  tell(type: string, facts: EventFacts = {}, share?: string): void {
    if (this.#isClosed) return;
    if (share !== undefined && !this.#shares.takes(share)) {
      this.#writeCountsSoon();
      return;
    }
    if (this.#waiting.length >= MAX_WAITING) {
      this.#lost += 1;
      return;
    }
    this.#waiting.push({ ...stamp(type), ...boundedFacts(facts) });
    this.#writeSoon(GATHER_MS);
  }

  /** Reads about 1 MiB, including those just added. @throws FeatureError `eventsUnreadable`. */
  async page({ waitUntil, ...range }: PageOptions = {}): Promise<EventPage> {
    for (;;) {
      await this.#writeNow();
      const written = this.#writer.lastSeq;
      const lines: string[] = [];
      let lastSeq = 0;
      let sizeBytes = 0;
      let isPart = false;
      for await (const stored of this.#eventsIn(range)) {
        for (const { seq, text } of stored) {
          isPart = sizeBytes > PAGE_BYTES;
          if (isPart) break;
          lines.push(text);
          lastSeq = seq;
          sizeBytes += text.length;
        }
        if (isPart) break;
      }
      // A write may have added events meanwhile, so `next` must not lie before the last returned event.
      const next = isPart ? lastSeq : Math.max(written, range.after ?? 0, lastSeq);
      const isWaiting = lines.length === 0 && waitUntil?.aborted === false && !this.#isClosed;
      if (!isWaiting) return { lines, next, isPart };
      if (this.#writer.lastSeq === written) await this.#changed(waitUntil);
    }
  }

  /** Never rejects: events that the disk refuses stay queued. */
  flush(): Promise<void> {
    return this.#writeNow();
  }

  /** Writes queued events, and ends waiting reads. Idempotent; never rejects. */
  async close(): Promise<void> {
    if (!this.#isClosed) {
      this.#isClosed = true;
      clearTimeout(this.#timer);
      clearTimeout(this.#countsTimer);
      this.#wake();
    }
    await this.#writeNow();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #writeSoon(ms: number): void {
    if (this.#timer !== undefined || this.#isClosed) return;
    this.#timer = setTimeout(() => void this.#writeNow(), ms);
    this.#timer.unref();
  }

  #writeCountsSoon(): void {
    if (this.#countsTimer !== undefined) return;
    // Timers may fire slightly early.
    const waitMs = Math.max(GATHER_MS, Math.ceil(this.#shares.countsInMs) + 1);
    this.#countsTimer = setTimeout(() => {
      this.#countsTimer = undefined;
      void this.#writeNow();
    }, waitMs).unref();
  }

  /** Writes the events queued so far, after the write in progress. */
  async #writeNow(): Promise<void> {
    await this.#writing;
    if (this.#writing !== undefined) return this.#writeNow();
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#writing = this.#writeAll();
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    try {
      await this.#writer.open();
      this.#addCounts();
      await this.#writeWaiting();
      if (this.#lost > 0) this.#addCounts();
      await this.#writeWaiting();
      this.#became(true);
    } catch (error) {
      this.#became(false, error);
    } finally {
      this.#writing = undefined;
    }
    if (this.#isAvailable !== true) this.#writeSoon(RETRY_MS);
  }

  async #writeWaiting(): Promise<void> {
    while (this.#waiting.length > 0) {
      const count = await this.#writer.append(this.#waiting);
      this.#remember(this.#waiting.splice(0, count));
      this.#became(true);
      this.#wake();
    }
  }

  #remember(written: readonly UnnumberedEvent[]): void {
    const firstSeq = this.#writer.lastSeq - written.length + 1;
    const before = this.#recent.at(-1)?.seq === firstSeq - 1 ? this.#recent : [];
    const numbered = written.map((event, index) => ({ seq: firstSeq + index, ...event }));
    this.#recent = [...before, ...numbered].slice(-RECENT);
  }

  #eventsIn(range: EventRange) {
    const [oldest] = this.#recent;
    if (oldest === undefined || oldest.seq > (range.after ?? 0) + 1)
      return readEvents(this.#directory, range);
    const events = this.#recent.filter(isIn(range));
    return [events.map((event) => ({ seq: event.seq, text: encodeEvent(event) }))];
  }

  #addCounts(): void {
    // While the disk is full, each attempt to write would otherwise grow the queue.
    if (this.#waiting.length >= MAX_WAITING) return;
    for (const [share, count] of this.#shares.takeCounted(this.#isClosed))
      this.#waiting.push({ ...stamp('counted'), share, count });
    const count = this.#lost;
    if (count === 0) return;
    this.#lost = 0;
    this.#waiting.push({ ...stamp('lost'), count });
  }

  #became(isAvailable: boolean, reason?: unknown): void {
    if (this.#isAvailable === isAvailable) return;
    this.#isAvailable = isAvailable;
    this.#onChange(isAvailable, reason);
  }

  #changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        this.#waiters.delete(done);
        signal.removeEventListener('abort', done);
        resolve();
      };
      this.#waiters.add(done);
      signal.addEventListener('abort', done);
    });
  }

  #wake(): void {
    for (const done of [...this.#waiters]) done();
  }
}

function stamp(type: string): { readonly time: string; readonly type: string } {
  return { time: new Date().toISOString(), type: type.slice(0, 64) };
}
