import type { Abortable } from 'node:events';

/** Standard output or standard error of a run. */
export type OutputStream = 'stdout' | 'stderr';

/**
 * A piece of output: at most 64 KiB of one stream, or the number of bytes that are missing. Offsets count the bytes of
 * both streams from the start of the run. Readers may share the bytes: do not modify them.
 */
export type OutputPart =
  | {
      readonly stream: OutputStream;
      readonly offset: number;
      /** Time at which the first byte was written, in milliseconds since 1970. The clock may have jumped meanwhile. */
      readonly timeMs: number;
      readonly bytes: Buffer;
    }
  | { readonly stream: 'skipped'; readonly offset: number; readonly bytes: number };

/** Number of last bytes in which the last lines are searched, so that no reader causes more work. */
export const TAIL_BYTES = 16 * 1024 * 1024;

/** Reading begins where all given conditions hold. Default: at the oldest byte. */
export interface OutputStart {
  /** Missing output counts from here on. */
  readonly offset?: number | undefined;
  /** Begins with the last lines of the wanted streams, of the last {@link TAIL_BYTES} at most. */
  readonly lines?: number | undefined;
  /** Begins with the first output of this time or later, in milliseconds since 1970. Later output counts even if its time is earlier. */
  readonly sinceMs?: number | undefined;
}

/** Selects the stream and the start of the output, and whether the reader waits at its end. */
export interface OutputReadOptions extends OutputStart {
  /** Default: both. */
  readonly only?: OutputStream | undefined;
  /** Whether reading waits for more output. Default true. */
  readonly follow?: boolean | undefined;
  /** Closes the reader. */
  readonly signal?: AbortSignal | undefined;
}

/** The caller must `close()` the reader, or iterate until the end or a `break`. */
export interface OutputReader extends AsyncIterable<OutputPart>, Disposable {
  /** Resolves with the next part, or with undefined at the end. Await each call before the next. */
  next(): Promise<OutputPart | undefined>;
  /** Frees what was read ahead. Call it while nobody takes parts. */
  rest(): void;
  /** Idempotent. */
  close(): void;
}

/** Output of a living tree, in memory ({@link ProcessOutput}) or on disk ({@link SpoolLog}). Says when the programs must wait. */
export interface TreeLog {
  append(stream: OutputStream, bytes: Buffer): void;
  /** Reads from the oldest byte on. @param options - The signal closes the reader. */
  read(options?: Abortable): OutputReader;
  /** Call when the processes have exited. The rest of the output then waits for no reader. */
  finish(): void;
  /** Resolves when the log is complete. Idempotent. */
  close(): void | Promise<void>;
}

/** Output of a run so far. */
export interface OutputFigures {
  readonly stdoutBytes: number;
  readonly stderrBytes: number;
  /** How often the run had to wait for a reader of its output, or for the disk. */
  readonly pauses: number;
}

/** The outputs of a tree. */
export interface OutputSource {
  pause(): void;
  resume(): void;
}

/** Iterates a reader, and closes it at the end or a `break`. */
export async function* partsOf(reader: OutputReader): AsyncGenerator<OutputPart, void, undefined> {
  try {
    for (let part = await reader.next(); part !== undefined; part = await reader.next()) yield part;
  } finally {
    reader.close();
  }
}

const LINE_END = 0x0a;

/** Looks at four bytes at a time: `indexOf` takes 30 times as long for output of line ends alone. */
export function countLineEnds(bytes: Buffer): number {
  const begin = Math.min(bytes.length, -bytes.byteOffset & 3);
  const count = (bytes.length - begin) >> 2;
  const end = begin + count * 4;
  let lineEnds = 0;
  for (const each of [bytes.subarray(0, begin), bytes.subarray(end)])
    for (const byte of each) if (byte === LINE_END) lineEnds += 1;
  if (count === 0) return lineEnds;
  const words = new Int32Array(bytes.buffer, bytes.byteOffset + begin, count);
  for (let at = 0; at < count; at += 1) {
    const differs = (words[at] as number) ^ 0x0a0a0a0a;
    // The highest bit of each byte that is a line end.
    const found = ~(((differs & 0x7f7f7f7f) + 0x7f7f7f7f) | differs | 0x7f7f7f7f);
    lineEnds += Math.imul(found >>> 7, 0x01010101) >>> 24;
  }
  return lineEnds;
}

/** Returns the position behind the line end with this number, counted from 1; undefined if there are fewer. */
export function behindLineEnd(bytes: Buffer, number: number): number | undefined {
  let at = -1;
  for (let left = number; left > 0; left -= 1) {
    at = bytes.indexOf(LINE_END, at + 1);
    if (at < 0) return undefined;
  }
  return at + 1;
}

export function endsLine(bytes: Buffer): boolean {
  return bytes.at(-1) === LINE_END;
}
