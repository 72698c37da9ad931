import { PROTOCOL_LIMITS } from './limits.js';
import { EXTENSION_REVISION, MessageType, type TunnelMessage } from './message.js';
import { writeVarint, type Int64, readVarint, skipVarint, toInt64, type Cursor } from './varint.js';
import { TunnelError } from '../tunnel-error.js';

const HEADER_BYTES = 4 * PROTOCOL_LIMITS.varintBytes;
/** Obsolete deadline in milliseconds. No peer uses it, but each expects it. */
const VESTIGIAL_DEADLINE = 15_000;

/** Message ids count from 1; peers only log them. Texts above their limit are cut at a character boundary. */
export class MessageEncoder {
  #nextId = 1;
  readonly #header = Buffer.alloc(HEADER_BYTES);

  /** Returns a Data message with room for a body of `length` bytes at `bodyOffset`. */
  data(id: Int64, length: number): { readonly message: Buffer; readonly bodyOffset: number } {
    const bodyOffset = this.#writeHeader(MessageType.data, id);
    const message = Buffer.allocUnsafe(bodyOffset + length);
    this.#header.copy(message, 0, 0, bodyOffset);
    return { message, bodyOffset };
  }

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

  datagramHeader(id: Int64): Buffer {
    return this.#bare(MessageType.datagram, id);
  }

  hello(): Buffer {
    const revision = Buffer.alloc(PROTOCOL_LIMITS.varintBytes);
    const length = writeVarint(revision, 0, EXTENSION_REVISION);
    return Buffer.concat([this.#bare(MessageType.hello, 0), revision.subarray(0, length)]);
  }

  /** Peers require `ids` in ascending order. */
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

/**
 * Decodes one received WebSocket message. Texts above their limit are cut; a Connect keeps one byte more, so that the
 * policy detects an address that is too long.
 *
 * @throws {TunnelError} `protocolViolation` if a message, datagram or list is above its limit, a list is not a multiple
 * of eight bytes, the header is cut, or an integer needs more than 64 bits.
 */
export function decodeMessage(bytes: Buffer): TunnelMessage {
  if (bytes.length > PROTOCOL_LIMITS.messageBytes) {
    throw violation(
      `a message of ${bytes.length} bytes; at most ${PROTOCOL_LIMITS.messageBytes} are allowed`,
    );
  }
  const cursor: Cursor = { bytes, offset: 0 };
  skipVarint(cursor);
  const id = readVarint(cursor);
  const type = readVarint(cursor);
  switch (type) {
    case MessageType.data:
      skipVarint(cursor);
      return { type: 'data', id, payload: bytes.subarray(cursor.offset) };
    case MessageType.connect:
      skipVarint(cursor);
      return { type: 'connect', id, address: textOf(cursor, PROTOCOL_LIMITS.connectBytes + 1) };
    case MessageType.error:
      return { type: 'error', id, text: textOf(cursor, PROTOCOL_LIMITS.errorBytes) };
    case MessageType.pause:
      return { type: 'pause', id };
    case MessageType.resume:
      return { type: 'resume', id };
    case MessageType.syncConnections:
      return { type: 'sync', ids: decodeIds(bytes.subarray(cursor.offset)) };
    case MessageType.hello:
      return { type: 'hello', revision: Number(readVarint(cursor)) };
    case MessageType.end:
      return { type: 'end', id };
    case MessageType.datagram:
      return { type: 'datagram', id, payload: datagramOf(bytes.subarray(cursor.offset)) };
    default:
      return { type: 'unknown', id };
  }
}

/**
 * Decodes the beginning of a Data message; returns undefined for other messages. `bytes` must include the whole header.
 *
 * @throws {TunnelError} as {@link decodeMessage}.
 */
export function decodeData(bytes: Buffer): { id: Int64; payload: Buffer } | undefined {
  const cursor: Cursor = { bytes, offset: 0 };
  skipVarint(cursor);
  const id = readVarint(cursor);
  if (readVarint(cursor) !== MessageType.data) return undefined;
  skipVarint(cursor);
  return { id, payload: bytes.subarray(cursor.offset) };
}

function datagramOf(body: Buffer): Buffer {
  const most = PROTOCOL_LIMITS.datagramBytes;
  if (body.length <= most) return body;
  throw violation(`a datagram of ${body.length} bytes; wanted ${most} at most`);
}

function decodeIds(body: Buffer): Int64[] {
  if (body.length > PROTOCOL_LIMITS.syncBytes || body.length % 8 !== 0) {
    throw violation(
      `a list of ids of ${body.length} bytes; wanted a multiple of 8, ${PROTOCOL_LIMITS.syncBytes} at most`,
    );
  }
  const ids: Int64[] = [];
  for (let offset = 0; offset < body.length; offset += 8) {
    const high = body.readInt32LE(offset + 4);
    const safe = high >= 0 && high < 0x20_0000;
    ids.push(
      safe
        ? high * 0x1_0000_0000 + body.readUInt32LE(offset)
        : toInt64(body.readBigInt64LE(offset)),
    );
  }
  return ids;
}

function textOf(cursor: Cursor, limit: number): string {
  return cursor.bytes.toString(
    'utf8',
    cursor.offset,
    Math.min(cursor.bytes.length, cursor.offset + limit),
  );
}

function violation(found: string): TunnelError {
  return new TunnelError('protocolViolation', `cannot decode a tunnel message: found ${found}`);
}
