import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import { START_LIMITS } from '@wins/process-manager';
import { ProcessStartRequest, UNKNOWN_PARTS } from '@wins/wins-api/contract';

/** The most entries of each list that are decoded, by field number: one more than may be, so that the manager refuses it. */
const DECODED: ReadonlyMap<number, number> = new Map([
  [3, START_LIMITS.arguments + 1],
  [4, START_LIMITS.exposes + 1],
  [5, START_LIMITS.variables + 1],
  [14, START_LIMITS.files + 1],
]);

/** The fields that hold messages: exposed ports, limits and files. */
const MESSAGES: ReadonlySet<number> = new Set([4, 8, 14]);

/**
 * Decodes a Start request. What follows an entry that is one too many is not decoded: 200,000 entries of four octets would
 * take the event loop 80 ms, and the answer is known.
 *
 * @throws Error when the message is malformed.
 */
export function decodeStartRequest(message: Buffer): ProcessStartRequest {
  try {
    return ProcessStartRequest.decode(message.subarray(0, endOfDecoded(message)));
  } catch (cause) {
    throw new Error('the request is malformed; wanted a ProcessStartRequest', { cause });
  }
}

/**
 * Decodes a request and refuses what this daemon does not know of it, which would be left out, and with it perhaps a limit.
 *
 * @throws Error when the message is malformed, or has something unknown.
 */
export function decodeExactly(message: Buffer): ProcessStartRequest {
  const request = decodeStartRequest(message);
  const known = ProcessStartRequest.encode(request).finish().length;
  if (known === message.length) return request;
  throw new Error(`${UNKNOWN_PARTS}; upgrade the daemon`);
}

function endOfDecoded(message: Buffer): number {
  const counts = new Map<number, number>();
  const reader = new BinaryReader(message);
  while (reader.pos < reader.len) {
    const [field, wireType] = tagOf(reader);
    if (MESSAGES.has(field) && wireType === WireType.LengthDelimited) skipWhole(reader);
    else reader.skip(wireType, field);
    const most = DECODED.get(field);
    if (most === undefined) continue;
    const count = (counts.get(field) ?? 0) + 1;
    if (count === most) break;
    counts.set(field, count);
  }
  return reader.pos;
}

/**
 * The generated decoder does not stop at the end of a message within the request: what reaches beyond it, or ends before it, makes the decoder
 * take all that follows for something else than what was counted here.
 */
function skipWhole(reader: BinaryReader): void {
  const sizeBytes = reader.uint32();
  const end = reader.pos + sizeBytes;
  while (reader.pos < end) {
    const [field, wireType] = tagOf(reader);
    reader.skip(wireType, field);
  }
  if (reader.pos > end) throw new RangeError('found a field beyond the end of its message');
}

function tagOf(reader: BinaryReader): [field: number, wireType: WireType] {
  const [field, wireType] = reader.tag();
  const isGroup = wireType === WireType.StartGroup || wireType === WireType.EndGroup;
  if (isGroup) throw new RangeError('found a group, which no message of ours has');
  return [field, wireType];
}
