import fc from 'fast-check';
import { TunnelError } from '../tunnel-error.js';
import { decodeMessage, MessageEncoder } from './encode.js';
import { PROTOCOL_LIMITS } from './limits.js';
import { readVarint, skipVarint, toInt64, writeVarint, type Int64 } from './varint.js';

const int64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map(toInt64);

describe('an integer on the wire', () => {
  it.each([
    [0, '00'],
    [-1, '01'],
    [1, '02'],
    [-64, '7f'],
    [64, '8001'],
    [15_000, 'b0ea01'],
    [2 ** 27, '8080808001'],
    [Number.MAX_SAFE_INTEGER, 'feffffffffffff1f'],
    [2n ** 63n - 1n, 'feffffffffffffffff01'],
    [-(2n ** 63n), 'ffffffffffffffffff01'],
  ])('writes %s as %s and reads it back', (value, hex) => {
    const buffer = Buffer.alloc(PROTOCOL_LIMITS.varintBytes);
    expect(buffer.toString('hex', 0, writeVarint(buffer, 0, value))).toBe(hex);
    expect(readVarint({ bytes: Buffer.from(hex, 'hex'), offset: 0 })).toBe(value);
  });

  it('survives the wire whatever its value, and skipping it ends where reading it ends', () => {
    fc.assert(
      fc.property(fc.oneof(int64, fc.maxSafeInteger()), (value) => {
        const buffer = Buffer.alloc(PROTOCOL_LIMITS.varintBytes);
        const bytes = buffer.subarray(0, writeVarint(buffer, 0, value));
        const read = { bytes, offset: 0 };
        const skipped = { bytes, offset: 0 };
        expect(readVarint(read)).toBe(Object.is(value, -0) ? 0 : value);
        skipVarint(skipped);
        expect([read.offset, skipped.offset]).toEqual([bytes.length, bytes.length]);
      }),
      { numRuns: 1000 },
    );
  });

  it.each([
    ['of eleven bytes', `${'ff'.repeat(10)}00`],
    ['whose tenth byte exceeds 64 bits', `${'ff'.repeat(9)}02`],
    ['that breaks off', 'ff'],
    ['that is not there', ''],
  ])('is refused when it is one %s', (_name, hex) => {
    for (const take of [readVarint, skipVarint])
      expect(() => take({ bytes: Buffer.from(hex, 'hex'), offset: 0 })).toThrow(TunnelError);
  });

  it('is read in a spelling longer than it needs, as every peer does', () => {
    expect(readVarint({ bytes: Buffer.from('828000', 'hex'), offset: 0 })).toBe(1);
  });
});

describe('a message on the wire', () => {
  const encode = new MessageEncoder();

  it.each([
    [
      'connect',
      encode.connect(1, 'tcp/localhost:80'),
      { type: 'connect', id: 1, address: 'tcp/localhost:80' },
    ],
    ['error', encode.error(3, 'EOF'), { type: 'error', id: 3, text: 'EOF' }],
    ['pause', encode.pause(4), { type: 'pause', id: 4 }],
    ['resume', encode.resume(5), { type: 'resume', id: 5 }],
    ['end', encode.end(6), { type: 'end', id: 6 }],
    ['hello', encode.hello(), { type: 'hello', revision: 2 }],
    ['sync', encode.sync([1, 2, 2n ** 62n]), { type: 'sync', ids: [1, 2, 2n ** 62n] }],
    ['an add-client, unknown here', Buffer.from('00000861', 'hex'), { type: 'unknown', id: 0 }],
    ['a remove-client, unknown here', Buffer.from('00000a62', 'hex'), { type: 'unknown', id: 0 }],
    ['an unknown type', Buffer.from('00025a', 'hex'), { type: 'unknown', id: 1 }],
  ])('reads back as %s', (_name, bytes, message) => {
    expect(decodeMessage(bytes)).toEqual(message);
  });

  it('reads back as data of any length on any id', () => {
    fc.assert(
      fc.property(int64, fc.uint8Array({ maxLength: 300 }), (id, body) => {
        const { message, bodyOffset } = encode.data(id, body.length);
        message.set(body, bodyOffset);
        expect(decodeMessage(message)).toEqual({ type: 'data', id, payload: Buffer.from(body) });
      }),
    );
  });

  it('carries a datagram of up to 65,507 bytes unchanged, and none that is longer', () => {
    const { datagramBytes } = PROTOCOL_LIMITS;
    const written = (id: Int64, body: Uint8Array) =>
      decodeMessage(Buffer.concat([encode.datagramHeader(id), body]));
    fc.assert(
      fc.property(int64, fc.uint8Array({ maxLength: 2_000 }), (id, body) => {
        const payload = Buffer.from(body);
        expect(written(id, body)).toEqual({ type: 'datagram', id, payload });
      }),
    );
    const longest = Buffer.alloc(datagramBytes, 'd');
    expect(written(1, longest)).toEqual({ type: 'datagram', id: 1, payload: longest });
    expect(() => written(1, Buffer.alloc(datagramBytes + 1))).toThrow(/65508 bytes/);
  });

  it('never throws anything but a protocol violation, whatever the bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        try {
          decodeMessage(Buffer.from(bytes));
        } catch (error) {
          expect(error).toMatchObject({ name: 'TunnelError', code: 'protocolViolation' });
        }
      }),
      { numRuns: 1000 },
    );
  });

  it('has its texts cut at the limit, between characters', () => {
    const text = (message: Buffer): string => {
      const decoded = decodeMessage(message);
      return decoded.type === 'error' ? decoded.text : '';
    };
    expect(text(encode.error(1, 'e'.repeat(100)))).toHaveLength(100);
    expect(text(encode.error(1, 'e'.repeat(101)))).toHaveLength(100);
    expect(text(encode.error(1, `${'e'.repeat(99)}é`))).toBe('e'.repeat(99));
    const raw = Buffer.concat([Buffer.from([0, 2, 6]), Buffer.alloc(101, 'r')]);
    expect(text(raw)).toHaveLength(100);
  });
});
