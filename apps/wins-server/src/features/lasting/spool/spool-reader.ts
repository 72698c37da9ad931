import type { NumberedFiles } from '@wins/files';
import { openRegularFile, TrustedFileError } from '@wins/trusted-files';
import { errnoOf } from '@wins/base';
import { decodeFrame, HEADER_BYTES, MAX_FRAME_BYTES } from './spool-frame.js';
import { spoolFiles, type SpoolFrame } from './spool-frame.js';

/** Initial read size, enough for a whole frame. */
const READ_BYTES = 2 * (HEADER_BYTES + MAX_FRAME_BYTES);
/** Size of each further read, once a read has filled its buffer. */
const NEXT_READ_BYTES = 16 * (HEADER_BYTES + MAX_FRAME_BYTES);
const LINE_END = 0x0a;

export type SpoolPart =
  | ({ readonly kind: 'output' } & SpoolFrame)
  | { readonly kind: 'skipped'; readonly offset: number; readonly bytes: number };

export interface SpoolReadOptions {
  /** Offset of the first byte. Default 0. */
  readonly offset?: number;
  /** Returns only output from this time on, in milliseconds since 1970. Default: all. */
  readonly sinceMs?: number;
  /** Returns the output's total size, or undefined while the output may grow. Default: the existing output is complete. */
  readonly end?: () => number | undefined;
  /** Resolves when there may be more output than at the previous call. Absent: reading ends with the existing output. */
  readonly more?: () => Promise<unknown>;
}

/**
 * Reads a spool, also while it is written. The files may contain anything, and the oldest may disappear at any time. The reader reports all missing
 * parts, and uses a few MiB of memory at most.
 *
 * @throws TrustedFileError for a link, or a file that cannot be read.
 */
export async function* readSpool(
  folder: string,
  { offset, sinceMs = 0, end = () => 0, more }: SpoolReadOptions,
): AsyncGenerator<SpoolPart> {
  const files = spoolFiles(folder);
  // If only a start time is given, older output does not count as missing.
  let at = offset ?? (sinceMs > 0 ? undefined : 0);
  let position: Position | undefined;
  for (;;) {
    const total = end();
    const next = more?.();
    // Prevents an unhandled rejection when the promise is not awaited.
    next?.catch(() => undefined);
    for await (const found of framesFrom(files, position, at ?? 0)) {
      position = found.position;
      const { frame } = found;
      const frameEnd = frame.offset + frame.bytes.length;
      if (frameEnd <= (at ?? 0)) continue;
      at ??= frame.offset;
      if (frame.timeMs < sinceMs) {
        at = frameEnd;
        continue;
      }
      if (frame.offset > at) yield skipped(at, frame.offset);
      const from = Math.max(at, frame.offset);
      const bytes = frame.bytes.subarray(from - frame.offset);
      at = frameEnd;
      yield { kind: 'output', ...frame, offset: from, bytes };
    }
    if (total !== undefined || next === undefined) {
      if (total !== undefined && at !== undefined && at < total) yield skipped(at, total);
      return;
    }
    await next;
  }
}

/** Returns where the last `lines` lines of stdout and stderr begin. Memory use does not grow with the number of lines. */
export async function tailOffset(folder: string, lines: number): Promise<number> {
  const files = spoolFiles(folder);
  let skip: number | undefined;
  let start = 0;
  for (const number of (await numbersOf(files)).toReversed()) {
    let lineEnds = 0;
    let last: SpoolFrame | undefined;
    for await (const { frame } of framesOf(files, { number, bytes: 0 })) {
      lineEnds += lineEndsOf(frame.bytes).length;
      last = frame;
    }
    if (last === undefined) continue;
    start = number;
    // A final line end does not start another line.
    skip ??= (last.bytes.at(-1) === LINE_END ? 0 : 1) - lines;
    skip += lineEnds;
    if (lines === 0) return last.offset + last.bytes.length;
    if (skip > 0) break;
  }
  if (skip === undefined || skip <= 0) return start;
  for await (const { frame } of framesOf(files, { number: start, bytes: 0 })) {
    const at = lineEndsOf(frame.bytes)[skip - 1];
    if (at !== undefined) return frame.offset + at + 1;
    skip -= lineEndsOf(frame.bytes).length;
  }
  return start;
}

function lineEndsOf(bytes: Buffer): readonly number[] {
  const found: number[] = [];
  for (let at = bytes.indexOf(LINE_END); at >= 0; at = bytes.indexOf(LINE_END, at + 1))
    found.push(at);
  return found;
}

function skipped(from: number, to: number): SpoolPart {
  return { kind: 'skipped', offset: from, bytes: to - from };
}

interface Position {
  readonly number: number;
  readonly bytes: number;
}

interface Found {
  readonly frame: SpoolFrame;
  readonly position: Position;
}

async function* framesFrom(
  files: NumberedFiles,
  from: Position | undefined,
  offset: number,
): AsyncGenerator<Found> {
  const numbers = await numbersOf(files);
  const first = from?.number ?? numbers.findLast((number) => number <= offset) ?? 0;
  for (const number of numbers) {
    if (number < first) continue;
    yield* framesOf(files, number === from?.number ? from : { number, bytes: 0 });
  }
}

/** Stops at the first incomplete frame, which a crash or an active write leaves. */
async function* framesOf(files: NumberedFiles, from: Position): AsyncGenerator<Found> {
  let { bytes: at } = from;
  const opened = await openRegularFile(files.pathOf(from.number)).catch(unlessGone);
  if (opened === undefined) return;
  const { handle } = opened;
  try {
    for (let wanted = READ_BYTES; ;) {
      const { bytesRead, buffer } = await handle.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
      const bytes = buffer.subarray(0, bytesRead);
      if (bytesRead === wanted) wanted = NEXT_READ_BYTES;
      let used = 0;
      for (;;) {
        const frame = decodeFrame(bytes, used);
        if (frame === 'damaged') return;
        if (frame === 'torn') break;
        used += HEADER_BYTES + frame.bytes.length;
        yield { frame, position: { number: from.number, bytes: at + used } };
      }
      if (used === 0) return;
      at += used;
    }
  } finally {
    await handle.close();
  }
}

async function numbersOf(files: NumberedFiles): Promise<readonly number[]> {
  try {
    return await files.numbers();
  } catch (error) {
    // The folder was removed during the read.
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function unlessGone(error: unknown): undefined {
  if (error instanceof TrustedFileError && error.code === 'notFound') return undefined;
  throw error;
}
