import { NumberedFiles } from '@wins/files';
import { crc32 } from 'node:zlib';

/** Maximum number of output bytes per frame. */
export const MAX_FRAME_BYTES = 64 * 1024;
/** Header: CRC-32 of the rest of the frame, length and stream, offset, time. */
export const HEADER_BYTES = 24;

const CRC_BYTES = 4;
const STREAMS = ['stdout', 'stderr'] as const;

/** Approximate number of files in a full spool; files are removed as a whole. */
export const FILES_OF_SPOOL = 16;

/** Returns the spool files of a folder; the number of a file is the offset of its first output byte. */
export function spoolFiles(folder: string): NumberedFiles {
  return new NumberedFiles({ folder, prefix: 'spool', suffix: 'bin', digits: 15 });
}

/** Piece of a run's output, as it was read from the program. */
export interface SpoolFrame {
  readonly stream: (typeof STREAMS)[number];
  /** Number of bytes of both outputs before this piece. */
  readonly offset: number;
  /** Time of the write, in milliseconds since 1970. */
  readonly timeMs: number;
  /** 1 to {@link MAX_FRAME_BYTES}. */
  readonly bytes: Buffer;
}

/**
 * Encodes pieces of output; each byte is copied once. Consecutive pieces of the same stream and time share frames, because each frame costs
 * its readers the same regardless of its size.
 *
 * @param pieces - Consecutive pieces without gaps.
 * @param into - Buffer for the frames if it is large enough; reusable once they are written.
 */
export function encodeFrames(
  pieces: readonly SpoolFrame[],
  into: Buffer = Buffer.alloc(0),
): Buffer {
  const sizeBytes = pieces.reduce((sum, { bytes }) => sum + HEADER_BYTES + bytes.length, 0);
  const encoded = into.length < sizeBytes ? Buffer.allocUnsafe(sizeBytes) : into;
  let start = 0;
  let end = 0;
  let last: SpoolFrame | undefined;
  const seal = (): void => {
    if (last === undefined) return;
    const { stream, offset, timeMs } = last;
    const kind = (end - start - HEADER_BYTES) * STREAMS.length + STREAMS.indexOf(stream);
    encoded.writeUInt32LE(kind, start + CRC_BYTES);
    encoded.writeBigUInt64LE(BigInt(offset), start + 8);
    encoded.writeBigUInt64LE(BigInt(timeMs), start + 16);
    encoded.writeUInt32LE(crc32(encoded.subarray(start + CRC_BYTES, end)), start);
    start = end;
  };
  for (const piece of pieces) {
    const { stream, offset, timeMs, bytes } = piece;
    const isMore = last?.stream === stream && last.timeMs === timeMs;
    const most = isMore ? start + HEADER_BYTES + MAX_FRAME_BYTES - end : 0;
    const more = bytes.copy(encoded, end, 0, most);
    end += more;
    if (more === bytes.length) continue;
    seal();
    last = { ...piece, offset: offset + more };
    end += HEADER_BYTES;
    end += bytes.copy(encoded, end, more);
  }
  seal();
  return encoded.subarray(0, end);
}

/**
 * Decodes the frame at `at`. The bytes may be arbitrary: a frame never exceeds its limit, and its checksum must match. `torn` means that
 * the bytes end within the frame.
 */
export function decodeFrame(bytes: Buffer, at: number): SpoolFrame | 'torn' | 'damaged' {
  if (bytes.length - at < HEADER_BYTES) return 'torn';
  const kind = bytes.readUInt32LE(at + CRC_BYTES);
  const sizeBytes = Math.floor(kind / STREAMS.length);
  const stream = STREAMS[kind % STREAMS.length] ?? 'stdout';
  const offset = Number(bytes.readBigUInt64LE(at + 8));
  const timeMs = Number(bytes.readBigUInt64LE(at + 16));
  if (sizeBytes < 1 || sizeBytes > MAX_FRAME_BYTES) return 'damaged';
  if (!Number.isSafeInteger(offset + sizeBytes) || !Number.isSafeInteger(timeMs)) return 'damaged';
  const end = at + HEADER_BYTES + sizeBytes;
  if (end > bytes.length) return 'torn';
  if (crc32(bytes.subarray(at + CRC_BYTES, end)) !== bytes.readUInt32LE(at)) return 'damaged';
  return { stream, offset, timeMs, bytes: bytes.subarray(at + HEADER_BYTES, end) };
}
