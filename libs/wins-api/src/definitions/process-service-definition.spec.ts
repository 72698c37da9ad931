import fc from 'fast-check';
import { processServiceDefinition, ProcessWaitResponse } from '../contract.js';
import { deserializeWaitOutput, serializeWaitOutput } from './process-service-definition.js';

const output = fc.record({
  $case: fc.constantFrom('StdOut' as const, 'StdErr' as const),
  value: fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes)),
});

const SIZES = [0, 1, 127, 128, 16_383, 16_384, 65_536, 2_097_151, 2_097_152];

function generated(message: ProcessWaitResponse): Buffer {
  return Buffer.from(ProcessWaitResponse.encode(message).finish());
}

describe('the messages of the Wait stream', () => {
  it('are encoded as the generated code does it', () => {
    fc.assert(
      fc.property(output, (Options) => {
        expect(serializeWaitOutput({ Options })).toEqual(generated({ Options }));
      }),
    );
  });

  it.each(SIZES)('are encoded and decoded with %i octets of output', (size) => {
    const message = { Options: { $case: 'StdErr' as const, value: Buffer.alloc(size, 7) } };
    const encoded = serializeWaitOutput(message);
    expect(encoded.equals(generated(message))).toBe(true);
    const decoded = deserializeWaitOutput(encoded);
    expect(decoded.Options?.$case).toBe('StdErr');
    expect((decoded.Options?.value as Buffer).equals(message.Options.value)).toBe(true);
  });

  it('give their output as a view of what was received', () => {
    const encoded = serializeWaitOutput({
      Options: { $case: 'StdOut', value: Buffer.from('abc') },
    });
    const { Options } = deserializeWaitOutput(encoded);
    encoded.fill('x', 2);
    expect(Options).toEqual({ $case: 'StdOut', value: Buffer.from('xxx') });
  });

  it.each<ProcessWaitResponse>([
    {},
    {
      Options: { $case: 'Exit', value: { Code: 4294967295, Signal: 'SIGKILL', Reason: 'stopped' } },
    },
    { Options: { $case: 'Skipped', value: { Bytes: 2n ** 64n - 1n } } },
  ])('are encoded and decoded without output: %j', (message) => {
    const encoded = serializeWaitOutput(message);
    expect(encoded).toEqual(generated(message));
    expect(deserializeWaitOutput(encoded)).toEqual(ProcessWaitResponse.fromPartial(message));
  });

  it('are decoded as the generated code does it, whatever the octets', () => {
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(fc.constantFrom(0x0a, 0x12, 0x1a), fc.uint8Array({ maxLength: 40 }))
        .map(([tag, rest]) => Uint8Array.of(tag, ...rest)),
    );
    const attempt = (decode: (message: Buffer) => ProcessWaitResponse, message: Buffer) => {
      try {
        return decode(message);
      } catch {
        return 'malformed';
      }
    };
    fc.assert(
      fc.property(bytes, (random) => {
        const message = Buffer.from(random);
        expect(attempt(deserializeWaitOutput, message)).toEqual(
          attempt((octets) => ProcessWaitResponse.decode(octets), message),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it('take the last output when a message holds two, as protobuf has it', () => {
    const one = serializeWaitOutput({ Options: { $case: 'StdOut', value: Buffer.from('a') } });
    const two = serializeWaitOutput({ Options: { $case: 'StdErr', value: Buffer.from('b') } });
    expect(deserializeWaitOutput(Buffer.concat([one, two]))).toEqual({
      Options: { $case: 'StdErr', value: Buffer.from('b') },
    });
  });

  it('use these codecs in the service definition', () => {
    expect(processServiceDefinition.wait.responseSerialize).toBe(serializeWaitOutput);
    expect(processServiceDefinition.wait.responseDeserialize).toBe(deserializeWaitOutput);
  });
});
