/** Parts of Node for a program on a simulated machine: files on a simulated disk, and short waits that take no time. */
import type { Abortable } from 'node:events';
import { SimulatedDisk } from './simulated-disk.js';

/** A shorter timer waits for some turns of the event loop. A longer one never fires, because a history takes milliseconds. */
const LONG_MS = 1000;
/** Share of the calls of the file system that end in a later turn of the event loop, so that other things happen meanwhile. */
const LATE = 0.2;

/** Names that the sources of a program use freely, and that are not those of the real Node. */
export interface SimulatedNode {
  readonly require: (name: string) => unknown;
  readonly process: NodeJS.Process;
  readonly setTimeout: unknown;
  readonly clearTimeout: unknown;
}

/** Returns Node as `real` gives it, apart from files, short timers, and the list of what is in progress. Each program needs one of its own. */
export function simulatedNode(real: (name: string) => unknown): SimulatedNode {
  let pending = 0;
  let state = 1;
  const latency = async (): Promise<void> => {
    // A linear congruential generator: the same calls always take the same time.
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    if (state / 2 ** 32 >= LATE) return;
    pending += 1;
    await turn();
    pending -= 1;
  };
  const disk = new SimulatedDisk(latency);
  const { calls, promises } = disk;
  const { mkdtempSync } = calls;
  // Each history makes one such folder, and must take the same course when it is repeated.
  calls.mkdtempSync = (prefix) => {
    state = 1;
    return mkdtempSync(prefix);
  };
  const modules: Readonly<Record<string, unknown>> = {
    'node:fs': withoutOthers(real('node:fs'), calls),
    'node:fs/promises': withoutOthers(real('node:fs/promises'), promises),
    'node:timers/promises': { setTimeout: delay, setImmediate: turn },
  };
  const process = Object.create(globalThis.process) as NodeJS.Process;
  process.getActiveResourcesInfo = () => (pending > 0 ? ['FSReqCallback'] : []);
  return {
    require: (name) => modules[name.startsWith('node:') ? name : `node:${name}`] ?? real(name),
    process,
    setTimeout: (work: () => void, ms = 0) => new Timer(ms, work),
    clearTimeout: (timer: Timer | undefined) => timer?.stop(),
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

class Timer {
  #isOver: boolean;

  constructor(ms: number, fire: () => void) {
    this.#isOver = ms >= LONG_MS;
    const next = (left: number): void => {
      if (this.#isOver) return;
      if (left > 0) {
        setImmediate(next, left - 1);
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

function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Replaces `setTimeout` of `node:timers/promises`. */
function delay<T>(ms = 0, value?: T, { signal }: Abortable = {}): Promise<T> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      timer.stop();
      reject(signal?.reason as Error);
    };
    const timer = new Timer(ms, () => {
      signal?.removeEventListener('abort', abort);
      resolve(value as T);
    });
    if (signal?.aborted === true) abort();
    else signal?.addEventListener('abort', abort, { once: true });
  });
}
