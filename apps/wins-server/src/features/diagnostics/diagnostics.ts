import { escapeText } from '@wins/base';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { getHeapSnapshot, getHeapStatistics } from 'node:v8';
import { FeatureError } from '../../kernel/feature-error.js';
import { activeHandles } from './active-handles.js';
import { processReport } from './process-report.js';
import {
  cpuProfileText,
  recordCpuProfile,
  recordTrace,
  type CpuProfile,
  type CpuProfileNode,
  type RecordOptions,
} from './recording.js';

export type Pieces = AsyncIterable<Buffer>;

const LARGEST_TEXT_BYTES = 1024 * 1024;

/** One recording of each kind runs at a time, because two would disturb each other. */
export class Diagnostics {
  readonly #underWay = new Set<string>();

  /** Samples the thread each millisecond; returns at most 1 MiB. @throws FeatureError `busy`, `invalidArgument`, `unavailable`. */
  async stacks(options: RecordOptions): Promise<string> {
    using _turn = this.#begin('look at the stacks');
    const profile = await recordCpuProfile(options);
    const waits = activeHandles().map(({ kind, count }) => `    ${kind}: ${count}`);
    const text = [
      `stacks of the JavaScript thread within ${options.seconds} s`,
      stacksText(profile),
      ['what keeps the process alive', ...waits].join('\n'),
    ].join('\n\n');
    return `${text.slice(0, LARGEST_TEXT_BYTES)}\n`;
  }

  report(): string {
    return `${JSON.stringify(processReport(), undefined, 2)}\n`;
  }

  /** Yields a snapshot of the heap, including secrets. Blocks for about 10 s per 100 MB. @throws FeatureError `busy`, `tooLarge` above 64 MiB. */
  async *heap(): Pieces {
    using _turn = this.#begin('take a heap snapshot');
    yield* heapSnapshot();
  }

  /** Yields a `.cpuprofile` file. @throws FeatureError `busy`, `invalidArgument`, `tooLarge`, `unavailable`. */
  async *cpu(options: RecordOptions): Pieces {
    using _turn = this.#begin('record a CPU profile');
    yield* piecesOf(cpuProfileText(await recordCpuProfile(options)));
  }

  /** Yields a file of trace events. @throws FeatureError `busy`, `invalidArgument`, `unavailable`. */
  async *trace(options: RecordOptions): Pieces {
    using _turn = this.#begin('record a trace');
    for (const part of await recordTrace(options)) yield* piecesOf(part);
  }

  #begin(what: string): Disposable {
    if (this.#underWay.has(what)) {
      const message = `cannot ${what}: another request for it is running. Try again when it has ended`;
      throw new FeatureError('busy', message);
    }
    this.#underWay.add(what);
    return { [Symbol.dispose]: () => void this.#underWay.delete(what) };
  }
}

function* piecesOf(content: Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at < content.length; at += PIECE_BYTES)
    yield content.subarray(at, at + PIECE_BYTES);
}

/** A snapshot blocks the event loop for about 10 s per 100 MB of small objects, measured on one slow core. */
const LARGEST_HEAP_BYTES = 64 * 1024 * 1024;
/** Highest observed extra memory for a snapshot, as a multiple of the heap in use. */
const HEAP_COST = 16;
export const PIECE_BYTES = 64 * 1024;

/** Pure. @throws FeatureError `tooLarge`. */
export function requireFreeHeap({ usedBytes, availableBytes }: ReturnType<typeof heapNow>): void {
  const tried = 'cannot take a heap snapshot';
  if (usedBytes > LARGEST_HEAP_BYTES) {
    const message = `${tried}: the heap has ${usedBytes} bytes (limit ${LARGEST_HEAP_BYTES}), so the daemon would pause for too long`;
    throw new FeatureError('tooLarge', message);
  }
  if (availableBytes < usedBytes * HEAP_COST) {
    const message = `${tried}: it needs ${usedBytes * HEAP_COST} bytes of memory, and ${availableBytes} are free`;
    throw new FeatureError('tooLarge', message);
  }
}

/** Blocks the event loop, and holds the whole snapshot in memory. @throws FeatureError `tooLarge`. */
export async function* heapSnapshot(): AsyncGenerator<Buffer, void, void> {
  requireFreeHeap(heapNow());
  const snapshot: Readable = getHeapSnapshot();
  try {
    for (;;) {
      const piece = (snapshot.read(PIECE_BYTES) ?? snapshot.read()) as Buffer | null;
      if (piece !== null) yield piece;
      else if (snapshot.readableEnded) return;
      else await Promise.race([once(snapshot, 'readable'), once(snapshot, 'end')]);
    }
  } finally {
    snapshot.destroy();
  }
}

function heapNow() {
  return {
    usedBytes: getHeapStatistics().used_heap_size,
    availableBytes: process.availableMemory(),
  };
}

const MOST_STACKS = 32;
const MOST_FRAMES = 64;
/** Names that the profiler reports while no function runs. */
const NOWHERE = new Set(['(root)', '(program)', '(idle)', '(garbage collector)']);

export function stacksText({ nodes, samples = [] }: CpuProfile): string {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)),
  );
  const seen = new Map<number, number>();
  for (const id of samples) seen.set(id, (seen.get(id) ?? 0) + 1);
  const ranked = [...seen].sort(([, one], [, other]) => other - one);
  const shown = ranked.slice(0, MOST_STACKS).map(([id, count]) => {
    const share = ((count / samples.length) * 100).toFixed(1);
    return [`${share} % of ${samples.length} samples`, ...framesFrom(id, byId, parents)].join('\n');
  });
  const hidden = ranked.length - shown.length;
  return [...shown, ...(hidden > 0 ? [`and ${hidden} rarer stacks`] : [])].join('\n\n');
}

function framesFrom(
  leaf: number,
  nodes: ReadonlyMap<number, CpuProfileNode>,
  parents: ReadonlyMap<number, number>,
): string[] {
  const frames: string[] = [];
  for (
    let id: number | undefined = leaf;
    id !== undefined && frames.length < MOST_FRAMES;
    id = parents.get(id)
  ) {
    const frame = nodes.get(id)?.callFrame;
    if (frame === undefined || (NOWHERE.has(frame.functionName) && frames.length > 0)) break;
    frames.push(`    ${frameText(frame)}`);
  }
  return frames;
}

function frameText({ functionName, url, lineNumber }: CpuProfileNode['callFrame']): string {
  if (NOWHERE.has(functionName)) return functionName;
  const name = functionName === '' ? '(anonymous)' : functionName;
  return escapeText(url === '' ? name : `${name} (${url}:${lineNumber + 1})`);
}
