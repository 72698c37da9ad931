/** Numbers of some message types of the tunnel. */
export const MESSAGE = { data: 1, connect: 2, error: 3, pause: 6, resume: 7, end: 1002 } as const;
export const OPCODE = { binary: 2, ping: 9 } as const;

/** A WebSocket frame, or the HTTP head before the first frame. */
export interface TunnelFrame {
  readonly bytes: Buffer;
  /** 0 for the head. */
  readonly opcode: number;
  /** Without the mask of a client. */
  readonly payload: Buffer;
  /** The next three describe a binary frame. */
  readonly stream: number;
  readonly type: number;
  readonly body: Buffer;
}

const HEAD_END = '\r\n\r\n';
const NOTHING = Buffer.alloc(0);

export class TunnelFrames {
  #rest: Buffer = NOTHING;
  #inHead = true;

  add(chunk: Buffer): TunnelFrame[] {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    const frames: TunnelFrame[] = [];
    for (let frame = this.#next(); frame !== undefined; frame = this.#next()) frames.push(frame);
    return frames;
  }

  #next(): TunnelFrame | undefined {
    if (this.#inHead) {
      const end = this.#rest.indexOf(HEAD_END);
      if (end < 0) return undefined;
      this.#inHead = false;
      const bytes = this.#take(end + HEAD_END.length);
      return { bytes, opcode: 0, payload: NOTHING, ...NO_MESSAGE };
    }
    const [first = 0, second = 0] = this.#rest;
    const short = second & 127;
    const lengthBytes = short === 126 ? 2 : short === 127 ? 8 : 0;
    const maskAt = 2 + lengthBytes;
    const payloadAt = maskAt + (second > 127 ? 4 : 0);
    if (this.#rest.length < payloadAt) return undefined;
    const length =
      lengthBytes === 0
        ? short
        : this.#rest.readUIntBE(lengthBytes === 2 ? 2 : 4, lengthBytes === 2 ? 2 : 6);
    if (this.#rest.length < payloadAt + length) return undefined;
    const bytes = this.#take(payloadAt + length);
    const mask = bytes.subarray(maskAt, payloadAt);
    const masked = bytes.subarray(payloadAt);
    const payload = mask.some((byte) => byte !== 0)
      ? Buffer.from(masked.map((byte, index) => byte ^ (mask[index % 4] ?? 0)))
      : masked;
    const opcode = first & 15;
    const message = opcode === OPCODE.binary ? headOf(payload) : NO_MESSAGE;
    return { bytes, opcode, payload, ...message };
  }

  #take(length: number): Buffer {
    const bytes = this.#rest.subarray(0, length);
    this.#rest = this.#rest.subarray(length);
    return bytes;
  }
}

const NO_MESSAGE = { stream: 0, type: 0, body: NOTHING };

/** Parses a message. Skips the fourth number of Data and Connect. */
function headOf(message: Buffer): { stream: number; type: number; body: Buffer } {
  let at = 0;
  const number = (): number => {
    let value = 0;
    for (let factor = 1, more = true; more; factor *= 128, at += 1) {
      const byte = message[at] ?? 0;
      value += (byte & 127) * factor;
      more = byte > 127;
    }
    return Math.floor(value / 2); // the lowest bit is the sign
  };
  number();
  const stream = number();
  const type = number();
  if (type === MESSAGE.data || type === MESSAGE.connect) number();
  return { stream, type, body: message.subarray(at) };
}
