import { BinaryReader, WireType } from '@bufbuild/protobuf/wire';
import type { TreeLimits } from '@wins/base';
import { START_LIMITS, type StartRequest } from '@wins/process-manager';
import { RunExposeProtocol } from '@wins/wins-api';
import { ProcessStartRequest, UNKNOWN_PARTS, type RunLimits } from '@wins/wins-api/contract';

/** Maximum number of decoded entries, by field number: one above the limit, so that the manager can still see that a list is too long. */
const DECODED: ReadonlyMap<number, number> = new Map([
  [3, START_LIMITS.arguments + 1],
  [4, START_LIMITS.exposes + 1],
  [5, START_LIMITS.variables + 1],
  [14, START_LIMITS.files + 1],
]);

/** Fields that contain messages: exposed ports, limits, how the run is kept, and files. */
const MESSAGES: ReadonlySet<number> = new Set([4, 8, 10, 14]);

/**
 * Decodes a request. Decoding stops when a list reaches its maximum in `DECODED`, because 200,000 entries would block the event loop for 80 ms.
 *
 * @throws Error when the request is malformed.
 */
export function decodeStartRequest(message: Buffer): ProcessStartRequest {
  try {
    return ProcessStartRequest.decode(message.subarray(0, endOfDecoded(message)));
  } catch (cause) {
    throw new Error('the request is malformed; wanted a ProcessStartRequest', { cause });
  }
}

/** Refuses unknown fields, because ignoring them could drop a limit. @throws Error, also when the message is malformed. */
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

/** Refuses a field that overruns its message, because the generated decoder would read such a field differently. */
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

/** Shared by all calls that start runs, so that none drops a field such as a limit. */
export function startRequestOf(message: ProcessStartRequest): Omit<StartRequest, 'owner'> {
  const { path, args, envs, dir, exposes, checksum, checksumSha256 } = message;
  const { limits, replace, files } = message;
  return {
    path,
    args,
    envs,
    replace,
    exposes: exposes.map(({ port, protocol }) => ({
      port,
      protocol: protocol === RunExposeProtocol.UDP ? 'udp' : 'tcp',
    })),
    ...(dir !== '' && { directory: dir }),
    ...(checksum !== '' && { sha1: checksum }),
    ...(checksumSha256 !== '' && { sha256: checksumSha256 }),
    ...(limits && { limits: limitsOf(limits) }),
    files,
  };
}

function limitsOf({ memoryBytes, cpuMillis, pids }: RunLimits): TreeLimits {
  return {
    ...(memoryBytes !== 0 && { memoryBytes }),
    ...(cpuMillis !== 0 && { cpus: cpuMillis / 1000 }),
    ...(pids !== 0 && { pids }),
  };
}
