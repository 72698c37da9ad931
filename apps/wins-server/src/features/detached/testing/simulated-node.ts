/** Parts of Node for a program on a simulated machine: files on a simulated disk, short waits that take no time, and repeatable random bytes. */
import type { Abortable } from 'node:events';
import { SimulatedDisk } from './simulated-disk.js';

/** A shorter timer waits for some turns of the event loop. A longer one never fires, because a history takes milliseconds. */
const LONG_MS = 1000;
/** Share of the calls of the file system that end in a later turn of the event loop, so that other things happen meanwhile. */
const LATE = 0.2;
/** Calls that one turn of the real event loop makes. */
const CALLS_OF_A_TURN = 16;

/** Node for one program. */
export interface SimulatedNode {
  /** Names that the sources of the program use freely, and that are not those of the real Node. */
  readonly names: Readonly<
    Record<'require' | 'process' | 'setImmediate' | 'setTimeout' | 'clearTimeout', unknown>
  >;
  /** Begins another history. The same number and the same calls of the file system give the same order of events and the same random bytes. */
  begin(latencies: number): void;
}

/** Returns Node as `real` gives it, apart from files, timers, random bytes, and the list of what is in progress. */
export function simulatedNode(real: (name: string) => unknown): SimulatedNode {
  const turns = new Turns();
  let pending = 0;
  let state = 0;
  const latency = (): Promise<void> | undefined => {
    // A linear congruential generator.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    if (state / 2 ** 32 >= LATE) return undefined;
    pending += 1;
    return turns.next().then(() => void (pending -= 1));
  };
  const disk = new SimulatedDisk(latency);
  const { calls, promises } = disk;
  const random = new RandomBytes();
  const modules: Readonly<Record<string, unknown>> = {
    'node:crypto': withOthers(real('node:crypto'), {
      randomBytes: (sizeBytes: number) => random.next(sizeBytes),
      randomUUID: () => random.nextUuid(),
    }),
    'node:fs': withoutOthers(real('node:fs'), calls),
    'node:fs/promises': withoutOthers(real('node:fs/promises'), promises),
    'node:timers/promises': {
      setTimeout: delay.bind(undefined, turns),
      setImmediate: () => turns.next(),
    },
  };
  const process = Object.create(globalThis.process) as NodeJS.Process;
  Object.assign(process, { simulatedDisk: disk });
  process.getActiveResourcesInfo = () => (pending > 0 ? ['FSReqCallback'] : []);
  return {
    names: {
      require: (name: string) =>
        modules[name.startsWith('node:') ? name : `node:${name}`] ?? real(name),
      process,
      setImmediate: (work: () => void) => turns.add(work),
      setTimeout: (work: () => void, ms = 0) => new Timer(turns, ms, work),
      clearTimeout: (timer: Timer | undefined) => timer?.stop(),
    },
    begin: (latencies) => {
      state = latencies;
      random.begin(latencies);
    },
  };
}

/** Returns `simulated`, and for each other function of the real module one that throws. */
function withoutOthers(real: unknown, simulated: object): object {
  const others = Object.keys(real as object).map((name) => [
    name,
    (): never => {
      throw new Error(`cannot call ${name}: the simulated disk has no such call`);
    },
  ]);
  return { ...(Object.fromEntries(others) as object), ...simulated };
}

/** Returns `simulated`, and the other names of the real module. */
function withOthers(real: unknown, simulated: object): object {
  const others = Object.getOwnPropertyDescriptors(real);
  return Object.defineProperties(
    Object.defineProperties({}, others),
    Object.getOwnPropertyDescriptors(simulated),
  );
}

/** Random bytes from a seed. Within a history, no four of them are those of an earlier call. */
class RandomBytes {
  #state = 0;

  begin(seed: number): void {
    this.#state = seed;
  }

  next(sizeBytes: number): Buffer {
    const bytes = Buffer.allocUnsafe(sizeBytes);
    for (let at = 0; at < sizeBytes; at += 4) {
      // Mixes a counter in ways that can be undone, so that each number is a different one.
      let mixed = (this.#state = (this.#state + 0x9e37_79b9) >>> 0);
      mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0_aaad);
      mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a_2d97);
      bytes.writeUInt32BE((mixed ^ (mixed >>> 15)) >>> 0, at);
    }
    return bytes;
  }

  nextUuid(): string {
    const hex = this.next(16).toString('hex');
    return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20)}`;
  }
}

/**
 * Calls that wait for a turn of the event loop. Node makes them in the order in which they came, and lets promises settle after each. A turn of the real
 * loop also asks the kernel for events, which costs more than most calls do, and there are none here: so each of them makes many calls.
 */
class Turns {
  readonly #waiting: (() => void)[] = [];
  /** Calls that the present turn of the real loop will still make. */
  #left = 0;

  /** Calls `work` in the next turn. */
  add(work: () => void): void {
    this.#waiting.push(work);
    this.#fill();
  }

  /** Resolves in the next turn. */
  next(): Promise<void> {
    return new Promise((resolve) => this.add(resolve));
  }

  #fill(): void {
    if (this.#left > 0) return;
    this.#left = CALLS_OF_A_TURN;
    for (let count = 0; count < CALLS_OF_A_TURN; count += 1) setImmediate(this.#serve);
  }

  readonly #serve = (): void => {
    this.#left -= 1;
    const work = this.#waiting.shift();
    if (this.#waiting.length > 0) this.#fill();
    work?.();
  };
}

class Timer {
  #isOver: boolean;

  constructor(turns: Turns, ms: number, fire: () => void) {
    this.#isOver = ms >= LONG_MS;
    const next = (left: number): void => {
      if (this.#isOver) return;
      if (left > 0) {
        turns.add(() => next(left - 1));
        return;
      }
      this.#isOver = true;
      fire();
    };
    next(Math.ceil(Math.log2(ms + 2)));
  }

  unref(): this {
    return this;
  }

  stop(): void {
    this.#isOver = true;
  }
}

/** Replaces `setTimeout` of `node:timers/promises`. */
function delay<T>(turns: Turns, ms = 0, value?: T, { signal }: Abortable = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      timer.stop();
      reject(signal?.reason as Error);
    };
    const timer = new Timer(turns, ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve(value as T);
    });
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
