import { activeHandles, type ActiveHandles } from './active-handles.js';
import { cpuProfileText, recordCpuProfile } from './cpu-profile.js';
import { heapSnapshot } from './heap-snapshot.js';
import { DIAGNOSTIC_LIMITS, PIECE_BYTES } from './limits.js';
import { processReport } from './process-report.js';
import { stacksText } from './stacks-text.js';
import { recordTrace } from './trace-recording.js';
import { Turns } from './turns.js';
import type { RecordOptions } from './wait-for.js';

/** Pieces of a file; a reader that stops early ends what makes them. */
export type Pieces = AsyncIterable<Buffer>;

/**
 * What this process can tell about itself. One of each kind at a time; another is refused with `busy`. Nothing is loaded, measured or
 * held between two questions, and no port is opened.
 */
export interface Diagnostics {
  /**
   * Where the thread of JavaScript is, looked at each millisecond, and what it waits for by kind: text of 1 MiB at most. What waits
   * has no stack.
   *
   * @throws FeatureError `busy`, `invalidArgument`, `unavailable`.
   */
  stacks(options: RecordOptions): Promise<string>;
  /** Node's report without the environment, the command line and names, as JSON. @throws FeatureError `unavailable`. */
  report(): string;
  /** What keeps the process alive, by kind. */
  handles(): readonly ActiveHandles[];
  /**
   * A `.heapsnapshot` file: everything in the heap, secrets included. It stops the event loop, for about 10 s for each 100 MB of small
   * objects; of a heap above 64 MiB none is taken.
   *
   * @throws FeatureError `busy`, `tooLarge`.
   */
  heap(): Pieces;
  /** A `.cpuprofile` file. @throws FeatureError `busy`, `invalidArgument`, `tooLarge`, `unavailable`. */
  cpu(options: RecordOptions): Pieces;
  /** A file of trace events. @throws FeatureError `busy`, `invalidArgument`, `unavailable`. */
  trace(options: RecordOptions): Pieces;
}

/** Makes what answers; nothing of it needs to be closed. */
export function createDiagnostics(): Diagnostics {
  const turns = new Turns();
  return {
    stacks: async (options) => {
      using _turn = turns.take('look at the stacks');
      const profile = await recordCpuProfile(options);
      const waits = activeHandles().map(({ kind, count }) => `    ${kind}: ${count}`);
      const text = [
        `stacks of the thread of JavaScript, within ${options.seconds} s`,
        stacksText(profile),
        ['what keeps the process alive', ...waits].join('\n'),
      ].join('\n\n');
      return `${text.slice(0, DIAGNOSTIC_LIMITS.largestTextBytes)}\n`;
    },
    report: () => `${JSON.stringify(processReport(), undefined, 2)}\n`,
    handles: activeHandles,
    heap: () => inTurn(turns, 'take a heap snapshot', heapSnapshot),
    cpu: (options) =>
      inTurn(turns, 'record the processor', async function* () {
        yield* piecesOf(cpuProfileText(await recordCpuProfile(options)));
      }),
    trace: (options) =>
      inTurn(turns, 'record a trace', async function* () {
        for (const part of await recordTrace(options)) yield* piecesOf(part);
      }),
  };
}

async function* inTurn(
  turns: Turns,
  what: string,
  make: () => AsyncGenerator<Buffer, void, void>,
): AsyncGenerator<Buffer, void, void> {
  using _turn = turns.take(what);
  yield* make();
}

function* piecesOf(content: Buffer): Generator<Buffer, void, void> {
  for (let at = 0; at < content.length; at += PIECE_BYTES)
    yield content.subarray(at, at + PIECE_BYTES);
}
