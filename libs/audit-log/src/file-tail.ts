import type { FileTail } from '@wins/files';
import { decodeLine, hashOf, MAX_LINE_BYTES, NO_LINE, type ChainEnd } from './audit-record.js';

const LINE_END = 0x0a;
/** As many of the longest lines as may be broken before the last good one. */
export const TAIL_BYTES = 4 * (MAX_LINE_BYTES + 1);

/** How a file ends. */
export interface TailOfChain {
  /** Bytes behind the last line end: what a crash left of a line. */
  readonly tornBytes: number;
  /** What the next line follows; absent when the file has no whole line within the last 256 KiB. */
  readonly end?: ChainEnd;
  /** Lines at the end that are no records. */
  readonly strangeLines: number;
}

/** Says how a file ends. Pure. */
export function judgeTail({ bytes, sizeBytes }: FileTail): TailOfChain {
  const lastEnd = bytes.lastIndexOf(LINE_END);
  const tornBytes = bytes.length - lastEnd - 1;
  let prev: string | undefined;
  let strangeLines = 0;
  for (let end = lastEnd; end >= 0;) {
    const start = end === 0 ? 0 : bytes.lastIndexOf(LINE_END, end - 1) + 1;
    // What begins before the tail is seen in part.
    if (start === 0 && bytes.length < sizeBytes) break;
    const line = bytes.subarray(start, end);
    prev ??= hashOf(line);
    const record = decodeLine(line.toString('utf8'));
    if (record !== undefined) {
      return { tornBytes, strangeLines, end: { seq: record.seq + strangeLines, prev } };
    }
    strangeLines += 1;
    end = start - 1;
  }
  if (strangeLines === 0) return { tornBytes, strangeLines };
  return { tornBytes, strangeLines, end: { seq: strangeLines, prev: prev ?? NO_LINE } };
}
