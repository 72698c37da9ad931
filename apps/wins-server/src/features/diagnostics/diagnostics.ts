import { FeatureError } from '../../kernel/feature-error.js';
import { heapSnapshot, PIECE_BYTES } from './heap-snapshot.js';
import { processReport } from './process-report.js';
import { cpuProfileText, recordCpuProfile, recordTrace, type RecordOptions } from './recording.js';
import { stacksText } from './stacks-text.js';

export interface ActiveHandles {
  /** Node's name for it, such as `PipeWrap`, `Timeout` or `FSReqPromise`. */
  readonly kind: string;
  readonly count: number;
}

/** Chunks of a file; a reader that stops early aborts their source. */
export type Pieces = AsyncIterable<Buffer>;

const MOST_KINDS = 64;
const LARGEST_TEXT_BYTES = 1024 * 1024;

/** One recording of each kind runs at a time, because two would disturb each other. Nothing is loaded or held between calls. */
export class Diagnostics {
  readonly #underWay = new Set<string>();

  /** Samples the thread each millisecond; at most 1 MiB. @throws FeatureError `busy`, `invalidArgument`, `unavailable`. */
  async stacks(options: RecordOptions): Promise<string> {
    using _turn = this.#begin('look at the stacks');
    const profile = await recordCpuProfile(options);
    const waits = this.handles().map(({ kind, count }) => `    ${kind}: ${count}`);
    const text = [
      `stacks of the thread of JavaScript, within ${options.seconds} s`,
      stacksText(profile),
      ['what keeps the process alive', ...waits].join('\n'),
    ].join('\n\n');
    return `${text.slice(0, LARGEST_TEXT_BYTES)}\n`;
  }

  /** Node's report without the environment, the command line and names, as JSON. @throws FeatureError `unavailable`. */
  report(): string {
    return `${JSON.stringify(processReport(), undefined, 2)}\n`;
  }

  /** Counts the resources that keep this process alive, by kind, the most frequent first; 64 kinds at most. */
  handles(): readonly ActiveHandles[] {
    const counts = new Map<string, number>();
    for (const kind of process.getActiveResourcesInfo())
      counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return [...counts]
      .map(([kind, count]) => ({ kind, count }))
      .sort((one, other) => other.count - one.count || one.kind.localeCompare(other.kind))
      .slice(0, MOST_KINDS);
  }

  /** Everything in the heap, including secrets. Blocks for about 10 s per 100 MB. @throws FeatureError `busy`, `tooLarge` above 64 MiB. */
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
      const message = `cannot ${what}: another one is running. Try again when it has ended`;
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
