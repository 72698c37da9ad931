import { ProcessServiceService, ProcessWaitResponse } from '../gen/process.js';

type OutputCase = 'StdOut' | 'StdErr';

const STDOUT_TAG = 0x0a;
const STDERR_TAG = 0x12;

/** Reads the length that follows the tag; answers where the payload starts, or -1 unless it spans the rest exactly. */
function payloadStart(message: Buffer): number {
  let length = 0;
  // Four octets hold 28 bits: more than any message that passes the size limit.
  for (let at = 1; at <= 4; at++) {
    const octet = message[at];
    if (octet === undefined) return -1;
    length |= (octet & 0x7f) << (7 * (at - 1));
    if (octet < 0x80) return at + 1 + length === message.length ? at + 1 : -1;
  }
  return -1;
}

/**
 * Decodes a message of the Wait stream. A chunk of output is given as a view of `message`, not as a copy; all else goes
 * through the generated decoder.
 *
 * @throws Error when the message is not of that type
 */
export function deserializeWaitOutput(message: Buffer): ProcessWaitResponse {
  const tag = message[0];
  if (tag === STDOUT_TAG || tag === STDERR_TAG) {
    const start = payloadStart(message);
    if (start > 0) {
      const $case: OutputCase = tag === STDOUT_TAG ? 'StdOut' : 'StdErr';
      return { Options: { $case, value: message.subarray(start) } };
    }
  }
  return ProcessWaitResponse.decode(message);
}

/** Encodes a message of the Wait stream. A chunk of output is copied once, into one allocation. */
export function serializeWaitOutput(message: ProcessWaitResponse): Buffer {
  const { Options: options } = message;
  if (options?.$case !== 'StdOut' && options?.$case !== 'StdErr') {
    return Buffer.from(ProcessWaitResponse.encode(message).finish());
  }
  const { value } = options;
  let lengthOctets = 1;
  while (value.length >= 2 ** (7 * lengthOctets)) lengthOctets++;
  const out = Buffer.allocUnsafe(1 + lengthOctets + value.length);
  out[0] = options.$case === 'StdOut' ? STDOUT_TAG : STDERR_TAG;
  for (let at = 1; at <= lengthOctets; at++) {
    const septet = Math.floor(value.length / 2 ** (7 * (at - 1))) & 0x7f;
    out[at] = at < lengthOctets ? septet | 0x80 : septet;
  }
  out.set(value, 1 + lengthOctets);
  return out;
}

/**
 * The process service for servers and clients: the generated definition, with a Wait stream that spares the copies of its
 * output.
 */
export const processServiceDefinition = {
  ...ProcessServiceService,
  wait: {
    ...ProcessServiceService.wait,
    responseSerialize: serializeWaitOutput,
    responseDeserialize: deserializeWaitOutput,
  },
} as const;
