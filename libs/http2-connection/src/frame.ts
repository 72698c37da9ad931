/** Frame types of RFC 9113, section 6. */
export const FRAME = {
  data: 0,
  headers: 1,
  priority: 2,
  rstStream: 3,
  settings: 4,
  pushPromise: 5,
  ping: 6,
  goaway: 7,
  windowUpdate: 8,
  continuation: 9,
} as const;

export const FLAG = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 0x20 } as const;

export const SETTING = {
  headerTableSize: 1,
  enablePush: 2,
  maxConcurrentStreams: 3,
  initialWindowSize: 4,
  maxFrameSize: 5,
  maxHeaderListSize: 6,
} as const;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
export const FRAME_HEADER_OCTETS = 9;
/** Maximum payload of a frame, unless the peer allows more. */
export const DEFAULT_FRAME_OCTETS = 16_384;
export const DEFAULT_WINDOW_OCTETS = 65_535;
export const LARGEST_WINDOW_OCTETS = 0x7fffffff;

export interface Frame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

export function writeFrameHeader(
  into: Buffer,
  at: number,
  length: number,
  type: number,
  flags: number,
  streamId: number,
): void {
  into.writeUIntBE(length, at, 3);
  into[at + 3] = type;
  into[at + 4] = flags;
  into.writeUInt32BE(streamId, at + 5);
}

export function frame(type: number, flags: number, streamId: number, payload: Buffer): Buffer {
  const whole = Buffer.allocUnsafe(FRAME_HEADER_OCTETS + payload.length);
  writeFrameHeader(whole, 0, payload.length, type, flags, streamId);
  payload.copy(whole, FRAME_HEADER_OCTETS);
  return whole;
}

/** A HEADERS frame, and CONTINUATION frames for the rest of a long block. */
export function headersFrames(streamId: number, block: Buffer, endStream: boolean): Buffer {
  const first = block.subarray(0, DEFAULT_FRAME_OCTETS);
  const isWhole = first.length === block.length;
  const flags = (isWhole ? FLAG.endHeaders : 0) | (endStream ? FLAG.endStream : 0);
  const frames = [frame(FRAME.headers, flags, streamId, first)];
  for (let at = first.length; at < block.length; at += DEFAULT_FRAME_OCTETS) {
    const part = block.subarray(at, at + DEFAULT_FRAME_OCTETS);
    const isLast = at + part.length === block.length;
    frames.push(frame(FRAME.continuation, isLast ? FLAG.endHeaders : 0, streamId, part));
  }
  return isWhole ? (frames[0] as Buffer) : Buffer.concat(frames);
}

export function frameOfNumbers(type: number, streamId: number, ...numbers: number[]): Buffer {
  const payload = Buffer.allocUnsafe(numbers.length * 4);
  for (const [index, number] of numbers.entries()) payload.writeUInt32BE(number >>> 0, index * 4);
  return frame(type, 0, streamId, payload);
}

export function settingsFrame(settings: readonly (readonly [id: number, value: number])[]): Buffer {
  const payload = Buffer.allocUnsafe(settings.length * 6);
  for (const [index, [id, value]] of settings.entries()) {
    payload.writeUInt16BE(id, index * 6);
    payload.writeUInt32BE(value, index * 6 + 2);
  }
  return frame(FRAME.settings, 0, 0, payload);
}
