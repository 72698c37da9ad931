import { TunnelError } from '../tunnel-error.js';
import { PROTOCOL_LIMITS } from './limits.js';

/** 64-bit signed integer: a number if that is exact, else a bigint. */
export type Int64 = number | bigint;

export interface Cursor {
  readonly bytes: Buffer;
  offset: number;
}

const LOW_32 = 0x1_0000_0000;
const TOP_BYTE_LIMIT = 1;

/**
 * Reads one zig-zag integer of up to 64 bits. Nearly all fields have at most four bytes and need only small-integer
 * arithmetic; only values beyond 2^53 become a BigInt.
 *
 * @throws {TunnelError} `protocolViolation` when the bytes end inside the integer or it needs more than 64 bits.
 */
export function readVarint(cursor: Cursor): Int64 {
  const { bytes } = cursor;
  let raw = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = nextByte(cursor);
    raw |= (byte & 0x7f) << shift;
    if (byte < 0x80) return (raw >>> 1) ^ -(raw & 1);
  }
  return readLongVarint(cursor, bytes, raw);
}

/**
 * Skips one unused integer, such as the random 63-bit message id.
 *
 * @throws {TunnelError} as {@link readVarint}.
 */
export function skipVarint(cursor: Cursor): void {
  for (let index = 1; index < PROTOCOL_LIMITS.varintBytes; index += 1) {
    if (nextByte(cursor) < 0x80) return;
  }
  if (nextByte(cursor) > TOP_BYTE_LIMIT) throw tooLong();
}

/** Writes a zig-zag integer at `offset`, where `target` must have room for 10 bytes. Returns the next offset. */
export function writeVarint(target: Buffer, offset: number, value: Int64): number {
  if (typeof value === 'bigint') return writeBigVarint(target, offset, BigInt.asIntN(64, value));
  // Doubling stays exact up to 2^52; a larger number takes the slow path.
  if (value > 0xf_ffff_ffff_ffff || value < -0xf_ffff_ffff_ffff)
    return writeBigVarint(target, offset, BigInt(value));
  let rest = value < 0 ? -2 * value - 1 : 2 * value;
  let at = offset;
  while (rest >= LOW_32) {
    target[at++] = (rest % 0x80) | 0x80;
    rest = Math.floor(rest / 0x80);
  }
  while (rest >= 0x80) {
    target[at++] = (rest & 0x7f) | 0x80;
    rest >>>= 7;
  }
  target[at++] = rest;
  return at;
}

/** Returns a number for every safe integer, so that each id has only one key in a map. */
export function toInt64(value: bigint): Int64 {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

function readLongVarint(cursor: Cursor, bytes: Buffer, low28: number): Int64 {
  let middle = 0;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = nextByte(cursor);
    middle |= (byte & 0x7f) << shift;
    if (byte < 0x80) return unzigzag(low28, middle, 0);
  }
  const ninth = nextByte(cursor);
  if (ninth < 0x80) return unzigzag(low28, middle, ninth);
  const tenth = nextByte(cursor);
  if (tenth > TOP_BYTE_LIMIT) throw tooLong();
  return unzigzag(low28, middle, (ninth & 0x7f) | (tenth << 7));
}

function unzigzag(low28: number, middle28: number, high8: number): Int64 {
  if (high8 === 0 && middle28 < 0x200_0000) {
    const raw = middle28 * 0x1000_0000 + low28;
    const half = Math.floor(raw / 2);
    return raw % 2 === 0 ? half : -half - 1;
  }
  const raw = (BigInt(high8) << 56n) | (BigInt(middle28) << 28n) | BigInt(low28);
  const half = raw >> 1n;
  return toInt64((raw & 1n) === 0n ? half : -half - 1n);
}

function writeBigVarint(target: Buffer, offset: number, value: bigint): number {
  let rest = value < 0n ? -2n * value - 1n : 2n * value;
  let at = offset;
  while (rest >= 0x80n) {
    target[at++] = Number(rest & 0x7fn) | 0x80;
    rest >>= 7n;
  }
  target[at++] = Number(rest);
  return at;
}

function nextByte(cursor: Cursor): number {
  const byte = cursor.bytes[cursor.offset];
  if (byte === undefined) {
    throw new TunnelError(
      'protocolViolation',
      `cannot decode a tunnel message: found an integer that is cut off after ${cursor.bytes.length} bytes`,
    );
  }
  cursor.offset += 1;
  return byte;
}

function tooLong(): TunnelError {
  return new TunnelError(
    'protocolViolation',
    `cannot decode a tunnel message: found an integer of more than 64 bits; wanted ${PROTOCOL_LIMITS.varintBytes} bytes at most`,
  );
}
