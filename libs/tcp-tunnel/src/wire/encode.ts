import { PROTOCOL_LIMITS } from './limits.js';
import { EXTENSION_REVISION, MessageType } from './message.js';
import { writeVarint, type Int64 } from './varint.js';

/** Four integers of at most ten bytes each. */
const HEADER_ROOM = 4 * PROTOCOL_LIMITS.varintBytes;
/** No one reads the deadline any more, but every reader skips it, so it must be there: 15 s in milliseconds. */
const VESTIGIAL_DEADLINE = 15_000;

/**
 * Turns messages into bytes. It counts message ids from 1; peers only log them.
 * Texts longer than their limit are cut at a character boundary.
 */
export class MessageEncoder {
  #nextId = 1;
  readonly #header = Buffer.alloc(HEADER_ROOM);

  /** A Data message whose body is `length` bytes that the caller then copies to `bodyOffset`. */
  data(id: Int64, length: number): { readonly message: Buffer; readonly bodyOffset: number } {
    const bodyOffset = this.#writeHeader(MessageType.data, id);
    const message = Buffer.allocUnsafe(bodyOffset + length);
    this.#header.copy(message, 0, 0, bodyOffset);
    return { message, bodyOffset };
  }

  /** The header of a Data message, for a body that is sent behind it. */
  dataHeader(id: Int64): Buffer {
    return this.#bare(MessageType.data, id);
  }

  connect(id: Int64, address: string): Buffer {
    return this.#withText(MessageType.connect, id, address, PROTOCOL_LIMITS.sentConnectBytes);
  }

  error(id: Int64, text: string): Buffer {
    return this.#withText(MessageType.error, id, text, PROTOCOL_LIMITS.errorBytes);
  }

  pause(id: Int64): Buffer {
    return this.#bare(MessageType.pause, id);
  }

  resume(id: Int64): Buffer {
    return this.#bare(MessageType.resume, id);
  }

  end(id: Int64): Buffer {
    return this.#bare(MessageType.end, id);
  }

  hello(): Buffer {
    const revision = Buffer.alloc(PROTOCOL_LIMITS.varintBytes);
    const length = writeVarint(revision, 0, EXTENSION_REVISION);
    return Buffer.concat([this.#bare(MessageType.hello, 0), revision.subarray(0, length)]);
  }

  /** The ids of all open streams; the peer wants them ascending. */
  sync(ids: readonly Int64[]): Buffer {
    const list = Buffer.alloc(ids.length * 8);
    ids.forEach((id, index) => list.writeBigInt64LE(BigInt(id), index * 8));
    return Buffer.concat([this.#bare(MessageType.syncConnections, 0), list]);
  }

  #bare(type: number, id: Int64): Buffer {
    const end = this.#writeHeader(type, id);
    const message = Buffer.allocUnsafe(end);
    this.#header.copy(message, 0, 0, end);
    return message;
  }

  #withText(type: number, id: Int64, text: string, limit: number): Buffer {
    const headerBytes = this.#writeHeader(type, id);
    const message = Buffer.allocUnsafe(headerBytes + Math.min(Buffer.byteLength(text), limit));
    this.#header.copy(message, 0, 0, headerBytes);
    // `write` stops before a character that does not fit.
    return message.subarray(0, headerBytes + message.write(text, headerBytes));
  }

  #writeHeader(type: number, id: Int64): number {
    const header = this.#header;
    let at = writeVarint(header, 0, this.#nextId++);
    at = writeVarint(header, at, id);
    at = writeVarint(header, at, type);
    if (type === MessageType.data || type === MessageType.connect)
      at = writeVarint(header, at, VESTIGIAL_DEADLINE);
    return at;
  }
}
