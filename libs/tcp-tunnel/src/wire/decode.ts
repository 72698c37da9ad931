import { TunnelError } from '../tunnel-error.js';
import { PROTOCOL_LIMITS } from './limits.js';
import { MessageType, type TunnelMessage } from './message.js';
import { readVarint, skipVarint, toInt64, type Cursor, type Int64 } from './varint.js';

/**
 * Turns one received WebSocket message into a {@link TunnelMessage}. Texts above their limit are cut. Of a Connect one byte
 * more than the limit is kept, so that the policy sees that the address is too long.
 *
 * @throws {TunnelError} `protocolViolation`: too long, cut inside its header, an integer beyond 64 bits, or
 * a list of ids that is too long or not a multiple of eight bytes.
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
    case MessageType.addClient:
      return { type: 'add-client', clientKey: textOf(cursor, PROTOCOL_LIMITS.clientKeyBytes) };
    case MessageType.removeClient:
      return { type: 'remove-client', clientKey: textOf(cursor, PROTOCOL_LIMITS.clientKeyBytes) };
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
    default:
      return { type: 'unknown', id };
  }
}

/**
 * Reads the header of a Data message of which at least that is there; undefined for any other message.
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
