import { ProcessServiceService, ProcessWaitResponse } from '../gen/process.js';
import { RunReadResponse, RunsService } from '../gen/runs.js';

type OutputCase = 'stdOut' | 'stdErr';

interface Output {
  readonly $case: OutputCase;
  readonly value: Buffer;
}

interface Generated<Message> {
  encode(message: Message): { finish(): Uint8Array };
  decode(bytes: Uint8Array): Message;
}

export interface OutputCodec<Message> {
  /** Copies an output chunk once, into one allocation. */
  readonly responseSerialize: (message: Message) => Buffer;
  /** Returns an output chunk as a view of the bytes. @throws Error for invalid bytes. */
  readonly responseDeserialize: (bytes: Buffer) => Message;
}

const NOTHING = Buffer.alloc(0);
const WIRE_TYPE = 0x07;
const MORE = 0x80;

/** @param tags - Tag octets of the output fields, which are the last fields of the message. */
function outputCodec<Message extends { readonly options?: { readonly $case: string } | undefined }>(
  generated: Generated<Message>,
  tags: Readonly<Record<OutputCase, number>>,
): OutputCodec<Message> {
  const chunk = ({ options }: { readonly options?: unknown }): Output | undefined => {
    const { $case } = (options ?? {}) as Partial<Output>;
    return $case === 'stdOut' || $case === 'stdErr' ? (options as Output) : undefined;
  };
  return {
    responseSerialize: (message) => {
      const output = chunk(message);
      if (output === undefined) return Buffer.from(generated.encode(message).finish());
      const { $case, value } = output;
      // The encoded head ends with the tag of the output and a length of 0.
      const head = generated.encode({ ...message, options: { $case, value: NOTHING } }).finish();
      let lengthOctets = 1;
      while (value.length >= 2 ** (7 * lengthOctets)) lengthOctets++;
      const start = head.length - 1 + lengthOctets;
      const bytes = Buffer.allocUnsafe(start + value.length);
      bytes.set(head);
      for (let at = 0; at < lengthOctets; at++) {
        const septet = Math.floor(value.length / 2 ** (7 * at)) & 0x7f;
        bytes[head.length - 1 + at] = at < lengthOctets - 1 ? septet | MORE : septet;
      }
      bytes.set(value, start);
      return bytes;
    },
    responseDeserialize: (bytes) => {
      const at = lastField(bytes);
      const $case = (['stdOut', 'stdErr'] as const).find((each) => tags[each] === bytes[at]);
      const start = $case === undefined ? -1 : payloadStart(bytes, at);
      if (start < 0) return generated.decode(bytes);
      const options = { $case, value: bytes.subarray(start) };
      return { ...generated.decode(bytes.subarray(0, at)), options };
    },
  };
}

/**
 * Skips the varint fields and returns the offset after them. In a message with output, the last field starts there.
 * The bytes from that offset on are not checked.
 */
function lastField(bytes: Buffer): number {
  let at = 0;
  for (;;) {
    const tag = bytes[at];
    if (tag === undefined || tag === 0 || tag >= MORE || (tag & WIRE_TYPE) !== 0) return at;
    at += 1;
    while ((bytes[at] ?? 0) >= MORE) at += 1;
    at += 1;
  }
}

/** Returns the payload's offset, or -1 if `bytes` does not end with the payload. */
function payloadStart(bytes: Buffer, at: number): number {
  let length = 0;
  // Four octets hold 28 bits, more than the size limit of a message needs.
  for (let octets = 1; octets <= 4; octets++) {
    const octet = bytes[at + octets];
    if (octet === undefined) return -1;
    length |= (octet & 0x7f) << (7 * (octets - 1));
    const start = at + octets + 1;
    if (octet < MORE) return start + length === bytes.length ? start : -1;
  }
  return -1;
}

/** The process service, whose Wait stream avoids copies of the output. */
export const processServiceDefinition = {
  ...ProcessServiceService,
  wait: {
    ...ProcessServiceService.wait,
    ...outputCodec(ProcessWaitResponse, { stdOut: 0x0a, stdErr: 0x12 }),
  },
} as const;

/** The service of runs, whose Read stream avoids copies of the output. */
export const runsDefinition = {
  ...RunsService,
  read: {
    ...RunsService.read,
    ...outputCodec(RunReadResponse, { stdOut: 0x1a, stdErr: 0x22 }),
  },
} as const;
