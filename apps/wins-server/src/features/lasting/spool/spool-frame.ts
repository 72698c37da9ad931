import { crc32 } from 'node:zlib';

/** Bytes of output that one frame has at most. */
export const MAX_FRAME_BYTES = 64 * 1024;
/** CRC-32 of what follows it, length and stream, offset, time. */
export const HEADER_BYTES = 24;

const CRC_BYTES = 4;
const STREAMS = ['stdout', 'stderr'] as const;

/** A piece of the output of a run, as it was read from the program. */
export interface SpoolFrame {
  readonly stream: (typeof STREAMS)[number];
  /** Bytes of both outputs before it. */
  readonly offset: number;
  /** When it was written, in milliseconds since 1970. */
  readonly timeMs: number;
  /** 1 to {@link MAX_FRAME_BYTES}. */
  readonly bytes: Buffer;
}

/** Encodes frames, one behind the other: each byte is copied once. */
export function encodeFrames(frames: readonly SpoolFrame[]): Buffer {
  const sizeBytes = frames.reduce((sum, { bytes }) => sum + HEADER_BYTES + bytes.length, 0);
  const encoded = Buffer.allocUnsafe(sizeBytes);
  let at = 0;
  for (const { stream, offset, timeMs, bytes } of frames) {
    const end = at + HEADER_BYTES + bytes.length;
    encoded.writeUInt32LE(bytes.length * STREAMS.length + STREAMS.indexOf(stream), at + CRC_BYTES);
    encoded.writeBigUInt64LE(BigInt(offset), at + 8);
    encoded.writeBigUInt64LE(BigInt(timeMs), at + 16);
    bytes.copy(encoded, at + HEADER_BYTES);
    encoded.writeUInt32LE(crc32(encoded.subarray(at + CRC_BYTES, end)), at);
    at = end;
  }
  return encoded;
}

/**
 * Decodes the frame that begins at `at`. The bytes may be anything: a frame is never longer than its limit, and its digest has to
 * match. `torn` means that the bytes end within it.
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
