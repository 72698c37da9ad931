/** What every HTTP/2 client sends before its first frame (RFC 9113, 3.4). */
export const CLIENT_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');

/** Octets of a frame header. */
export const FRAME_HEADER_BYTES = 9;

/** The frame types that matter here. */
export const FrameType = { Headers: 0x1, Settings: 0x4, Continuation: 0x9 } as const;

/** The header of a frame (RFC 9113, 4.1). */
export interface FrameHeader {
  /** Octets of payload. */
  readonly length: number;
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
}

/** Reads a frame header from the first nine octets of `bytes`. */
export function readFrameHeader(bytes: Buffer): FrameHeader {
  return {
    length: bytes.readUIntBE(0, 3),
    type: bytes.readUInt8(3),
    flags: bytes.readUInt8(4),
    streamId: bytes.readUInt32BE(5) & 0x7fffffff,
  };
}
