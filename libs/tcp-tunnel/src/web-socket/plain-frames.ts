import { PROTOCOL_LIMITS } from '../wire/limits.js';

/** First byte of a binary message in one frame: FIN and the opcode. */
const WHOLE_BINARY = 0x82;
const FIN = 0x80;
const MASKED = 0x80;
const MASK_BYTES = 4;
const CLOSE = 8;
/**
 * Minimum length, in bytes, of the first part of a message. This part must contain the whole header of the message, which
 * consists of up to four varints.
 */
const LEAST_BEGINNING_BYTES = 4 * PROTOCOL_LIMITS.varintBytes;
/** Smaller parts are copied into one buffer, because each part keeps its whole chunk in memory. */
const LEAST_PART_BYTES = 4 * 1024;

export interface PlainFrameEvents {
  /** A message, in one or more parts. The first part contains the header. */
  message(parts: readonly Buffer[]): void;
  /** Bytes of any other frame, in order. */
  other(bytes: Buffer): void;
}

/**
 * Finds plain frames in the input of a connection. A plain frame contains a whole binary message within the size limit.
 * If the frame comes from a client, its mask is zero. Leaves all other frames, and everything after a Close, to the
 * WebSocket.
 */
export class PlainFrameReader {
  readonly #fromClient: boolean;
  readonly #events: PlainFrameEvents;
  #cut: Buffer | undefined;
  /** Missing bytes of the current frame. */
  #left = 0;
  #isPlain = false;
  /** Received parts of the current message, unless they were copied to `#whole`. */
  #parts: Buffer[] = [];
  #whole: Buffer | undefined;
  #isFragmented = false;

  constructor(fromClient: boolean, events: PlainFrameEvents) {
    this.#fromClient = fromClient;
    this.#events = events;
  }

  take(chunk: Buffer): void {
    const bytes = this.#cut === undefined ? chunk : Buffer.concat([this.#cut, chunk]);
    this.#cut = undefined;
    for (let at = 0; at < bytes.length;) {
      const next = this.#left > 0 ? this.#goOn(bytes, at) : this.#begin(bytes, at);
      if (next === undefined) {
        this.#cut = Buffer.from(bytes.subarray(at));
        return;
      }
      at = next;
    }
  }

  /** Returns undefined while the head of the frame is incomplete. */
  #begin(bytes: Buffer, at: number): number | undefined {
    const first = bytes[at] ?? 0;
    const second = bytes[at + 1] ?? 0;
    const isMasked = second >= MASKED;
    const short = second % MASKED;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const body = at + 2 + lengthBytes + (isMasked ? MASK_BYTES : 0);
    if (at + 2 > bytes.length || body > bytes.length) return undefined;
    const length =
      lengthBytes === 0
        ? short
        : lengthBytes === 2
          ? bytes.readUInt16BE(at + 2)
          : bytes.readUInt32BE(at + 2) * 0x1_0000_0000 + bytes.readUInt32BE(at + 6);
    const isPlain =
      first === WHOLE_BINARY &&
      isMasked === this.#fromClient &&
      !this.#isFragmented &&
      length > 0 &&
      length <= PROTOCOL_LIMITS.messageBytes &&
      (!isMasked || bytes.readInt32LE(body - MASK_BYTES) === 0);
    if (!isPlain) {
      const opcode = first & 0x0f;
      if (opcode < CLOSE) this.#isFragmented = first < FIN;
      this.#isPlain = false;
      this.#left = opcode === CLOSE ? Infinity : body - at + length;
      return this.#goOn(bytes, at);
    }
    const end = body + length;
    if (end <= bytes.length) {
      this.#events.message([bytes.subarray(body, end)]);
      return end;
    }
    this.#isPlain = true;
    this.#left = end - bytes.length;
    const beginning = bytes.subarray(body);
    this.#parts = [beginning];
    if (beginning.length < LEAST_BEGINNING_BYTES) this.#putTogether();
    return bytes.length;
  }

  #goOn(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    const part = bytes.subarray(at, end);
    if (this.#isPlain) this.#takePart(part);
    else {
      this.#left -= part.length;
      this.#events.other(part);
    }
    return end;
  }

  #takePart(part: Buffer): void {
    const isLast = part.length === this.#left;
    if (!isLast && part.length < LEAST_PART_BYTES) this.#putTogether();
    const whole = this.#whole;
    if (whole === undefined) this.#parts.push(part);
    else part.copy(whole, whole.length - this.#left);
    this.#left -= part.length;
    if (!isLast) return;
    const parts = whole === undefined ? this.#parts : [whole];
    this.#parts = [];
    this.#whole = undefined;
    this.#events.message(parts);
  }

  #putTogether(): void {
    if (this.#whole !== undefined) return;
    const came = Buffer.concat(this.#parts);
    this.#parts = [];
    this.#whole = Buffer.allocUnsafeSlow(came.length + this.#left);
    came.copy(this.#whole);
  }
}

/** Returns the head of a plain frame, then `beginning`. The caller sends the other `laterBytes` bytes. */
export function plainFrame(isClient: boolean, beginning: Buffer, laterBytes: number): Buffer {
  const length = beginning.length + laterBytes;
  const lengthBytes = length < 126 ? 0 : length < 0x1_0000 ? 2 : 8;
  const body = 2 + lengthBytes + (isClient ? MASK_BYTES : 0);
  const frame = Buffer.allocUnsafe(body + beginning.length);
  frame[0] = WHOLE_BINARY;
  frame[1] = (isClient ? MASKED : 0) | (lengthBytes === 0 ? length : lengthBytes === 2 ? 126 : 127);
  if (lengthBytes === 2) frame.writeUInt16BE(length, 2);
  if (lengthBytes === 8) {
    frame.writeUInt32BE(0, 2);
    frame.writeUInt32BE(length, 6);
  }
  if (isClient) frame.writeInt32LE(0, body - MASK_BYTES);
  beginning.copy(frame, body);
  return frame;
}
