import { performance } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

const LOOK_EVERY_MS = 500;
/** While the daemon is busy: an attacker makes tens of megabytes of garbage in a second. */
const LOOK_WHILE_BUSY_MS = 100;
/** Growth that is worth a collection. */
const GROWTH_BYTES = 8 * 1024 * 1024;
/** Growth of old objects that is worth a collection while the daemon is busy: connections that end by the hundred become such ones. */
const OLD_GROWTH_BYTES = 8 * 1024 * 1024;
/** Largest share of the time between two looks in which the event loop of a quiet daemon did something. */
const QUIET_SHARE = 0.2;
/**
 * Between two collections. V8 makes the place for young objects small again in a collection that finds that little was allocated in
 * the five seconds before, counted from collection to collection.
 */
const REST_MS = 5500;
/** The longest rest before the next pair of collections: what steady work makes again at once is not worth more. */
const LONGEST_REST_MS = 60_000;
/** So the first frees what was made, and the second gives up the place for it. What is left then is in use. */
const COLLECTIONS = 2;

export interface MemoryLook {
  /** Any clock that only goes forward, in ms. */
  readonly at: number;
  readonly residentBytes: number;
  /** Memory of old objects, garbage included. */
  readonly oldBytes: number;
  /** The share of the time since the last look in which the event loop did something, 0 to 1. */
  readonly busyShare: number;
}

/** Decides from one look after the other what to do about memory. */
export class MemoryPolicy {
  #collectedAt = -Infinity;
  #collections = 0;
  #isToTrim = false;
  #restMs = REST_MS;
  #leastOldBytes = Infinity;

  #leastBytes: number;

  /** @param leastBytes - What the process has in memory at the start: growth is above the least. */
  constructor(leastBytes: number) {
    this.#leastBytes = leastBytes;
  }

  look({ at, residentBytes, oldBytes, busyShare }: MemoryLook): 'wait' | 'collect' | 'trim' {
    if (this.#isToTrim) {
      // V8 frees beside the program what it has collected: by now it has. What is left is in use.
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
    if (residentBytes - this.#leastBytes < GROWTH_BYTES) {
      this.#collections = 0;
      return 'wait';
    }
    const sinceMs = at - this.#collectedAt;
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
 * Gives memory back that the daemon no longer needs. V8 collects when there is more to do, and the C library keeps what is freed:
 * after an attack, or much honest work, a quiet daemon would keep for days what it left. Disposing ends it; it keeps nothing alive.
 */
export function returnMemory({
  collect = collector(),
  trim,
}: {
  readonly collect?: (() => void) | undefined;
  /** Gives to the system what is free in the C library; not every system needs it. */
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
  // What the start has freed is the C library's, which would keep it: 4 MiB.
  timer = setTimeout(() => {
    trim?.();
    look();
  }, LOOK_EVERY_MS).unref();
  return { [Symbol.dispose]: () => clearTimeout(timer) };
}

/** Undefined while the system cannot say: on Linux a file is opened for it, and there may be no descriptor left. */
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

/**
 * V8 of Node 22 keeps the pages that it has freed until a collection of the last resort. That of Node 20 keeps none, and would
 * take any options for a wish to collect young objects only.
 */
const LAST_RESORT = { type: 'major', execution: 'sync', flavor: 'last-resort' } as const;
const KNOWS_LAST_RESORT = Number.parseInt(process.versions.v8, 10) >= 12;

/**
 * V8 makes its function `gc` for contexts that are made after it was asked to, and for these alone: nothing else of the program
 * sees it.
 */
export function collector(): () => void {
  let collectNow: CollectNow | undefined;
  return () => {
    collectNow ??= ownCollection();
    if (KNOWS_LAST_RESORT) collectNow(LAST_RESORT);
    else collectNow();
  };
}

/** Octets of reads between two collections of young objects. */
const READ_OCTETS = 8 * 1024 * 1024;

/**
 * Collects young objects each time so many octets were read. What a read leaves is a small object that holds up to 64 KiB outside
 * of the heap, so that V8 finds little reason to collect: an attacker's reads would take tens of megabytes before it does.
 *
 * @returns to be called with the octets of each read.
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

/** V8's collection of young objects: about a millisecond. */
export function youngCollector(): () => void {
  let collectNow: CollectNow | undefined;
  return () => (collectNow ??= ownCollection())({ type: 'minor' });
}

type CollectNow = (how?: typeof LAST_RESORT | { readonly type: 'minor' }) => void;

function ownCollection(): CollectNow {
  setFlagsFromString('--expose-gc');
  const collectNow = runInNewContext('gc') as CollectNow;
  setFlagsFromString('--no-expose-gc');
  return collectNow;
}
