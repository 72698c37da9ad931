import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/**
 * V8 starts a full mark when the heap has grown by this percentage. Up to 32 MiB of output buffers count as heap, so a value below 300 would start
 * full marks during busy output.
 */
const GROWING_PERCENT = 320;

/**
 * Bounds the growth of the heap and of the young generation. Both flags work at run time, because V8 reads them whenever it computes a limit.
 * If V8 does not know a flag, it prints a line and continues. Code loaded later gets no code cache, because each cache is tied to one set of flags.
 *
 * The first flag limits how far the heap may grow before a full mark. V8's default limit is too low: between two collections of young objects,
 * the daemon's output creates so many buffers that V8 would run a full mark every few milliseconds. A limit above ours would let an attacker create
 * more garbage.
 * The second flag stops the growth of the young generation. Without this flag, the young generation would grow from 4 MiB to 48 MiB under load.
 */
export function boundHeap(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
  setFlagsFromString('--semi-space-growth-factor=1');
}

const LOOK_EVERY_MS = 500;
/** Shorter, because under load an attacker can create tens of megabytes of garbage per second. */
const LOOK_WHILE_BUSY_MS = 100;
const GROWTH_BYTES = 8 * 1024 * 1024;
/** Growth of old objects that justifies a collection under load. Hundreds of ended connections cause such growth. */
const OLD_GROWTH_BYTES = 8 * 1024 * 1024;
/** The daemon counts as quiet if its event loop is busy for at most this share of the time. */
const QUIET_SHARE = 0.2;
/** V8 shrinks the young generation only if a collection finds little allocation in the five seconds before. */
const REST_MS = 5500;
/**
 * Maximum pause in milliseconds between a collection cycle and the next. The pause doubles, up to this limit, each time that the memory grows
 * again soon after a cycle.
 */
const LONGEST_REST_MS = 60_000;
/**
 * Pause after a cycle that freed too little memory, before the next cycle. A client may release its memory during the pause.
 * Each further pause is twice as long, because the memory may still be in use.
 */
const RETRY_MS = 120_000;
/** Per cycle: the first collection frees garbage, the second shrinks the young generation. */
const COLLECTIONS = 2;

export interface MemoryLook {
  /** Monotonic clock, in milliseconds. */
  readonly at: number;
  readonly residentBytes: number;
  /** Includes garbage. */
  readonly oldBytes: number;
  /** Share of the event loop's time since the last look, 0 to 1. */
  readonly busyShare: number;
}

export class MemoryPolicy {
  #collectedAt = -Infinity;
  #collections = 0;
  #isToTrim = false;
  #restMs = REST_MS;
  #leastOldBytes = Infinity;

  #retryMs = RETRY_MS;
  #leastBytes: number;
  #lowestBytes: number;

  /** `leastBytes` is the memory at the start. Growth counts from the lowest value since the last cycle. */
  constructor(leastBytes: number) {
    this.#leastBytes = leastBytes;
    this.#lowestBytes = leastBytes;
  }

  look({ at, residentBytes, oldBytes, busyShare }: MemoryLook): 'wait' | 'collect' | 'trim' {
    if (this.#isToTrim) {
      // V8's background thread has freed the collected memory by now.
      this.#isToTrim = false;
      this.#leastOldBytes = oldBytes;
      return 'trim';
    }
    this.#leastOldBytes = Math.min(this.#leastOldBytes, oldBytes);
    if (oldBytes - this.#leastOldBytes >= OLD_GROWTH_BYTES) {
      this.#isToTrim = true;
      return 'collect';
    }
    if (this.#collections === COLLECTIONS) {
      this.#collections = 0;
      this.#leastBytes = residentBytes;
    }
    this.#leastBytes = Math.min(this.#leastBytes, residentBytes);
    this.#lowestBytes = Math.min(this.#lowestBytes, residentBytes);
    const sinceMs = at - this.#collectedAt;
    if (residentBytes - this.#lowestBytes < GROWTH_BYTES) this.#retryMs = RETRY_MS;
    else if (this.#leastBytes > this.#lowestBytes && sinceMs >= this.#retryMs) {
      this.#retryMs *= 2;
      this.#leastBytes = this.#lowestBytes;
    }
    if (residentBytes - this.#leastBytes < GROWTH_BYTES) {
      this.#collections = 0;
      return 'wait';
    }
    const isFirst = this.#collections === 0;
    if (busyShare > QUIET_SHARE || sinceMs < (isFirst ? this.#restMs : REST_MS)) return 'wait';
    if (isFirst) {
      const isAgain = sinceMs < LONGEST_REST_MS + this.#restMs;
      this.#restMs = isAgain ? Math.min(2 * this.#restMs, LONGEST_REST_MS) : REST_MS;
    }
    this.#collectedAt = at;
    this.#collections += 1;
    this.#isToTrim = true;
    return 'collect';
  }
}

/**
 * Without this function, a quiet daemon would keep an attack's garbage for days: V8 collects only under load, and the C library keeps freed memory.
 */
export function returnMemory({
  collect = collector(),
  trim,
}: {
  readonly collect?: (() => void) | undefined;
  /** Returns the C library's free memory to the system. Undefined where that is not needed or not possible. */
  readonly trim?: (() => void) | undefined;
}): Disposable {
  const policy = new MemoryPolicy(residentBytes() ?? Infinity);
  let before = performance.eventLoopUtilization();
  let timer: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = performance.eventLoopUtilization();
    const { utilization: busyShare } = performance.eventLoopUtilization(now, before);
    before = now;
    timer = setTimeout(look, busyShare > QUIET_SHARE ? LOOK_WHILE_BUSY_MS : LOOK_EVERY_MS).unref();
    const resident = residentBytes();
    if (resident === undefined) return;
    const [at, oldBytes] = [performance.now(), bytesOfOldObjects()];
    const action = policy.look({ at, residentBytes: resident, oldBytes, busyShare });
    if (action === 'collect') collect();
    else if (action === 'trim') trim?.();
  };
  // The start has freed about 4 MiB, which the C library would keep.
  timer = setTimeout(() => {
    trim?.();
    look();
  }, LOOK_EVERY_MS).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Returns the resident memory in bytes. Undefined if `rss()` fails: on Linux it opens a file, which needs a free descriptor. */
function residentBytes(): number | undefined {
  try {
    return process.memoryUsage.rss();
  } catch {
    return undefined;
  }
}

function bytesOfOldObjects(): number {
  const spaces = getHeapSpaceStatistics();
  return spaces.find(({ space_name: name }) => name === 'old_space')?.space_used_size ?? 0;
}

/** V8 in Node 22 releases freed pages only in a last-resort collection. In Node 20, `gc` with any options runs a minor collection. */
const LAST_RESORT = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;
const KNOWS_LAST_RESORT = Number.parseInt(process.versions.v8, 10) >= 12;

export function collector(): () => void {
  let collectNow: CollectNow | undefined;
  return () => {
    collectNow ??= ownCollection();
    if (KNOWS_LAST_RESORT) collectNow(LAST_RESORT);
    else collectNow();
  };
}

/** Octets between two collections of young objects. A collection takes about a millisecond. */
const READ_OCTETS = 8 * 1024 * 1024;

/**
 * Returns a function that receives the size of each read, and collects young objects after every 8 MiB. A read leaves a small object, with a
 * buffer of up to 64 KiB outside the heap. An attacker could fill tens of megabytes of such buffers before V8 collects by itself.
 */
export function collectReads(collect = youngCollector()): (octets: number) => void {
  let octets = 0;
  return (read) => {
    octets += read;
    if (octets < READ_OCTETS) return;
    octets = 0;
    collect();
  };
}

export function youngCollector(): () => void {
  let collectNow: CollectNow | undefined;
  return () => (collectNow ??= ownCollection())({ type: 'minor' });
}

type CollectNow = (how?: typeof LAST_RESORT | { readonly type: 'minor' }) => void;

/** V8 defines `gc` only in contexts created while `--expose-gc` is set, so no other code sees it. */
function ownCollection(): CollectNow {
  setFlagsFromString('--expose-gc');
  const collectNow = runInNewContext('gc') as CollectNow;
  setFlagsFromString('--no-expose-gc');
  return collectNow;
}
