import { START_LIMITS } from '@wins/process-manager';
import { ProcessStartRequest } from '@wins/wins-api/contract';

/** The most entries of each list that are decoded, by field number: one more than may be, so that the manager refuses it. */
const DECODED: ReadonlyMap<number, number> = new Map([
  [3, START_LIMITS.arguments + 1],
  [4, START_LIMITS.exposes + 1],
  [5, START_LIMITS.variables + 1],
]);

/** The field that holds messages. */
const EXPOSES = 4;

/**
 * Decodes a Start request. What follows an entry that is one too many is not decoded: 200,000 entries of four octets would
 * take the event loop 80 ms, and the answer is known.
 *
 * @throws Error when the message is malformed.
 */
export function decodeStartRequest(message: Buffer): ProcessStartRequest {
  const counts = new Map<number, number>();
  let at = 0;
  while (at < message.length) {
    const tag = readVarint(message, at);
    const field = tag.value >>> 3;
    at = endOfField(message, tag.end, tag.value & 7);
    if (field === EXPOSES && (tag.value & 7) === 2) assertWhole(message, tag.end, at);
    const limit = DECODED.get(field);
    if (limit === undefined) continue;
    const count = (counts.get(field) ?? 0) + 1;
    if (count === limit) return ProcessStartRequest.decode(message.subarray(0, at));
    counts.set(field, count);
  }
  return ProcessStartRequest.decode(message);
}

/**
 * The generated decoder does not stop at the end of a message within the request: what reaches beyond it, or ends before it, makes the decoder
 * take all that follows for something else than what was counted here.
 */
function assertWhole(message: Buffer, start: number, end: number): void {
  let at = readVarint(message, start).end;
  while (at < end) {
    const tag = readVarint(message, at);
    if (tag.value === 0) throw malformed();
    at = endOfField(message, tag.end, tag.value & 7);
  }
  if (at > end) throw malformed();
}

function endOfField(message: Buffer, start: number, wireType: number): number {
  let end: number;
  if (wireType === 0) ({ end } = readVarint(message, start));
  else if (wireType === 1) end = start + 8;
  else if (wireType === 5) end = start + 4;
  else if (wireType === 2) {
    const length = readVarint(message, start);
    end = length.end + length.value;
  } else throw malformed();
  if (end > message.length) throw malformed();
  return end;
}

/** The low 32 bits of a number, and where it ends. */
function readVarint(
  message: Buffer,
  start: number,
): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let index = 0; index < 10; index += 1) {
    const octet = message[start + index];
    if (octet === undefined) break;
    if (index < 5) value += (octet & 0x7f) * 2 ** (7 * index);
    if (octet < 0x80) return { value: value % 2 ** 32, end: start + index + 1 };
  }
  throw malformed();
}

function malformed(): Error {
  return new Error('the request is malformed; wanted a ProcessStartRequest');
}
