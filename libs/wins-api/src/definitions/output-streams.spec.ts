import fc from 'fast-check';
import {
  processServiceDefinition,
  ProcessWaitResponse,
  RunReadResponse,
  runsDefinition,
} from '../contract.js';
import type { OutputCodec } from './output-streams.js';

type Output = ReturnType<typeof outputOf>;
interface Message {
  readonly offset?: number;
  readonly options?: unknown;
}
interface Stream {
  readonly codec: OutputCodec<Message>;
  readonly generated: {
    encode(message: Message): { finish(): Uint8Array };
    decode(bytes: Uint8Array): Message;
  };
  readonly with: (options: Output) => Message;
  readonly others: readonly Message[];
}

const SIZES = [0, 1, 127, 128, 16_383, 16_384, 65_536, 2_097_151, 2_097_152];
const SKIPPED = 2 ** 53 - 1;
const EXIT = { exitCode: 4294967295, signal: 'SIGKILL', reason: 'stopped' };
const POSITION = { offset: 2 ** 40, writtenAtMs: 1_700_000_000_000 };

const STREAMS: Readonly<Record<string, Stream>> = {
  wait: {
    codec: processServiceDefinition.wait as Stream['codec'],
    generated: ProcessWaitResponse,
    with: (options) => ({ options }),
    others: [
      {},
      { options: { $case: 'skipped', value: { bytes: SKIPPED } } },
      { options: { $case: 'exit', value: EXIT } },
    ],
  },
  Read: {
    codec: runsDefinition.read as unknown as Stream['codec'],
    generated: RunReadResponse,
    with: (options) => ({ ...POSITION, options }),
    others: [
      POSITION,
      { ...POSITION, options: { $case: 'skipped', value: SKIPPED } },
      {
        ...POSITION,
        options: { $case: 'end', value: { ...EXIT, endedAtMs: 1, outputBytes: 2 } },
      },
    ],
  },
};

function outputOf($case: 'stdOut' | 'stdErr', value: Uint8Array) {
  return { $case, value: Buffer.from(value) };
}

describe.each(Object.entries(STREAMS))('the messages of the %s stream', (_, stream) => {
  const { responseSerialize: encode, responseDeserialize: decode } = stream.codec;
  const generated = (message: Message): Buffer =>
    Buffer.from(stream.generated.encode(message).finish());
  const output = fc
    .tuple(fc.constantFrom('stdOut' as const, 'stdErr' as const), fc.uint8Array({ maxLength: 300 }))
    .map(([$case, value]) => stream.with(outputOf($case, value)));

  it('are encoded as the generated code does it', () => {
    fc.assert(
      fc.property(output, (message) => {
        expect(encode(message)).toEqual(generated(message));
      }),
    );
  });

  it.each(SIZES)('are encoded and decoded with %i octets of output', (size) => {
    const message = stream.with(outputOf('stdErr', Buffer.alloc(size, 7)));
    const encoded = encode(message);
    expect(encoded.equals(generated(message))).toBe(true);
    expect(encode(decode(encoded)).equals(encoded)).toBe(true);
  });

  it('give their output as a view of what was received', () => {
    const encoded = encode(stream.with(outputOf('stdOut', Buffer.from('abc'))));
    const decoded = decode(encoded);
    encoded.fill('x', encoded.length - 3);
    expect(decoded).toEqual(stream.with(outputOf('stdOut', Buffer.from('xxx'))));
  });

  it.each(stream.others)('are encoded and decoded without output: %p', (message) => {
    const encoded = encode(message);
    expect(encoded).toEqual(generated(message));
    expect(decode(encoded)).toEqual(stream.generated.decode(encoded));
  });

  it('are decoded as by the generated code, whatever the bytes', () => {
    const tags = fc.constantFrom(0x00, 0x08, 0x0a, 0x10, 0x12, 0x18, 0x1a, 0x20, 0x22, 0x28, 0x88);
    const field = fc
      .tuple(tags, fc.uint8Array({ maxLength: 12 }))
      .map(([tag, rest]) => Uint8Array.of(tag, ...rest));
    const whole = fc
      .tuple(tags, fc.uint8Array({ maxLength: 12 }))
      .map(([tag, rest]) => Uint8Array.of(tag, rest.length, ...rest));
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.array(fc.oneof(field, whole), { maxLength: 4 }).map((all) => Buffer.concat(all)),
    );
    const attempt = (run: (message: Buffer) => unknown, message: Buffer) => {
      try {
        return run(message);
      } catch {
        return 'malformed';
      }
    };
    fc.assert(
      fc.property(bytes, (random) => {
        const message = Buffer.from(random);
        expect(attempt(decode, message)).toEqual(
          attempt((octets) => stream.generated.decode(octets), message),
        );
      }),
      { numRuns: 2000 },
    );
  });

  it('take the last output when a message holds two, as protobuf has it', () => {
    const one = encode(stream.with(outputOf('stdOut', Buffer.from('a'))));
    const two = encode(stream.with(outputOf('stdErr', Buffer.from('b'))));
    expect(decode(Buffer.concat([one, two]))).toEqual(
      stream.with(outputOf('stdErr', Buffer.from('b'))),
    );
  });
});
