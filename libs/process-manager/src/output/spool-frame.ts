import { NumberedFiles } from '@wins/files';
import { crc32 } from 'node:zlib';
import type { OutputStream } from './output-log.js';

/** Without the header. */
export const MAX_FRAME_BYTES = 64 * 1024;
/** Header: CRC-32 (of the rest of the frame), length and stream in one number, offset, time. */
export const HEADER_BYTES = 24;
/** Begins each file: CRC-32 (of the rest), version, latest time of all frames in earlier files. */
export const FILE_HEADER_BYTES = 16;

const CRC_BYTES = 4;
const FILE_VERSION = 1;
const STREAMS: readonly OutputStream[] = ['stdout', 'stderr'];

/** Approximate number of files in a full spool. A full spool loses its oldest file as a whole. */
export const FILES_OF_SPOOL = 16;

/** The number of a file is the offset of its first output byte. */
export function spoolFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'spool', suffix: 'bin', digits: 15 });
}

export interface SpoolFrame {
  readonly stream: OutputStream;
  /** Number of stdout and stderr bytes before this piece. */
  readonly offset: number;
  /** Time of the write, in milliseconds since 1970. */
  readonly timeMs: number;
  /** 1 to {@link MAX_FRAME_BYTES} bytes. */
  readonly bytes: Buffer;
}

/**
 * Encodes pieces into one buffer, and copies each byte once. Consecutive pieces of the same stream and time share a frame, because readers pay per
 * frame and not per byte.
 */
export class FrameBatch {
  readonly #space: Buffer;
  #offset: number | undefined;
  #start = 0;
  #end = 0;
  #open: Pick<SpoolFrame, 'stream' | 'timeMs'> | undefined;

  /** @param space - Must be larger than {@link HEADER_BYTES}. */
  constructor(space: Buffer) {
    this.#space = space;
  }

  get offset(): number {
    return this.#offset ?? 0;
  }

  get sizeBytes(): number {
    return this.#end;
  }

  /** Copies as much of the piece as fits, and returns the number of copied bytes. */
  add({ stream, offset, timeMs, bytes }: SpoolFrame): number {
    this.#offset ??= offset;
    let from = 0;
    while (from < bytes.length) {
      const isMore = this.#open?.stream === stream && this.#open.timeMs === timeMs;
      const frameEnd = isMore ? this.#start + HEADER_BYTES + MAX_FRAME_BYTES : this.#end;
      const copied = bytes.copy(this.#space, this.#end, from, from + frameEnd - this.#end);
      from += copied;
      this.#end += copied;
      if (from === bytes.length || this.#end + HEADER_BYTES >= this.#space.length) break;
      this.#seal();
      this.#open = { stream, timeMs };
      this.#start = this.#end;
      this.#space.writeBigUInt64LE(BigInt(offset + from), this.#start + 8);
      this.#space.writeBigUInt64LE(BigInt(timeMs), this.#start + 16);
      this.#end += HEADER_BYTES;
    }
    return from;
  }

  /** Do not call `add` afterwards. */
  encoded(): Buffer {
    this.#seal();
    return this.#space.subarray(0, this.#end);
  }

  #seal(): void {
    if (this.#open === undefined) return;
    const [space, start, end] = [this.#space, this.#start, this.#end];
    const kind = (end - start - HEADER_BYTES) * STREAMS.length;
    space.writeUInt32LE(kind + STREAMS.indexOf(this.#open.stream), start + CRC_BYTES);
    space.writeUInt32LE(crc32(space.subarray(start + CRC_BYTES, end)), start);
  }
}

/** Checks the size limit and the checksum, because the bytes may be arbitrary. Returns undefined for a damaged frame, and for the beginning of one. */
export function decodeFrame(bytes: Buffer, at: number): SpoolFrame | undefined {
  if (bytes.length - at < HEADER_BYTES) return undefined;
  const kind = bytes.readUInt32LE(at + CRC_BYTES);
  const sizeBytes = Math.floor(kind / STREAMS.length);
  const stream = STREAMS[kind % STREAMS.length] ?? 'stdout';
  const [offset, timeMs] = [number64(bytes, at + 8), number64(bytes, at + 16)];
  const end = at + HEADER_BYTES + sizeBytes;
  if (sizeBytes < 1 || sizeBytes > MAX_FRAME_BYTES || end > bytes.length) return undefined;
  if (!Number.isSafeInteger(offset + sizeBytes) || !Number.isSafeInteger(timeMs)) return undefined;
  if (crc32(bytes.subarray(at + CRC_BYTES, end)) !== bytes.readUInt32LE(at)) return undefined;
  return { stream, offset, timeMs, bytes: bytes.subarray(at + HEADER_BYTES, end) };
}

/** @param latestMs - Never decreases from file to file, so that readers can search for a time although clocks jump. */
export function encodeFileHeader(latestMs: number): Buffer {
  const header = Buffer.alloc(FILE_HEADER_BYTES);
  header.writeUInt32LE(FILE_VERSION, CRC_BYTES);
  header.writeBigUInt64LE(BigInt(latestMs), 8);
  header.writeUInt32LE(crc32(header.subarray(CRC_BYTES)), 0);
  return header;
}

/** Returns 0 for a damaged header. */
export function latestBefore(header: Buffer): number {
  if (header.length < FILE_HEADER_BYTES) return 0;
  const isWhole = crc32(header.subarray(CRC_BYTES, FILE_HEADER_BYTES)) === header.readUInt32LE(0);
  return isWhole && header.readUInt32LE(CRC_BYTES) === FILE_VERSION ? number64(header, 8) : 0;
}

function number64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readUInt32LE(at + 4) * 2 ** 32;
}
