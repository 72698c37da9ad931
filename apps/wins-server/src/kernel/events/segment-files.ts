import { errnoOf } from '@wins/wins-program';
import { constants } from 'node:fs';
import { open, readdir } from 'node:fs/promises';
import path from 'node:path';
import { decodeEvent, type RingEvent } from './ring-event.js';

const NAME = /^events\.(\d{15})\.jsonl$/;
/** No file of a ring is longer: 64 MiB is the most that a whole ring may have. */
const MAX_READ_BYTES = 64 * 1024 * 1024;
const LINE_END = 0x0a;

/** What is in a file of a ring. */
export interface Segment {
  readonly events: readonly RingEvent[];
  /** Where its last whole line that is an event ends. */
  readonly wholeBytes: number;
  readonly sizeBytes: number;
}

/** Where the file is that begins with the event of this number. */
export function segmentPath(directory: string, firstSeq: number): string {
  return path.join(directory, `events.${String(firstSeq).padStart(15, '0')}.jsonl`);
}

/**
 * The numbers of the first events of all files, in order; none when there is no folder.
 *
 * @throws what Node throws for a folder that cannot be read.
 */
export async function segmentStarts(directory: string): Promise<readonly number[]> {
  let names: readonly string[];
  try {
    names = await readdir(directory);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  return names
    .map((name) => NAME.exec(name)?.[1])
    .filter((digits) => digits !== undefined)
    .map(Number)
    .sort((a, b) => a - b);
}

/**
 * Reads a file of a ring. What is no event is left out.
 *
 * @returns undefined when it is not there: the oldest may be removed meanwhile.
 * @throws what Node throws for a file that cannot be read.
 */
export async function readSegment(
  directory: string,
  firstSeq: number,
): Promise<Segment | undefined> {
  let bytes: Buffer;
  try {
    const flags = constants.O_RDONLY | (process.platform === 'win32' ? 0 : constants.O_NOFOLLOW);
    await using file = await open(segmentPath(directory, firstSeq), flags);
    const { size } = await file.stat();
    bytes = Buffer.alloc(Math.min(size, MAX_READ_BYTES));
    let length = 0;
    while (length < bytes.length) {
      const { bytesRead } = await file.read(bytes, length, bytes.length - length, length);
      if (bytesRead === 0) break;
      length += bytesRead;
    }
    bytes = bytes.subarray(0, length);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  const events: RingEvent[] = [];
  let wholeBytes = 0;
  let from = 0;
  for (let end = bytes.indexOf(LINE_END); end >= 0; end = bytes.indexOf(LINE_END, from)) {
    const event = decodeEvent(bytes.toString('utf8', from, end));
    from = end + 1;
    if (event === undefined) continue;
    events.push(event);
    wholeBytes = from;
  }
  return { events, wholeBytes, sizeBytes: bytes.length };
}
