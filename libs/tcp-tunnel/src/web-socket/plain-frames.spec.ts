import fc from 'fast-check';
import type { Writable } from 'node:stream';
import * as ws from 'ws';
import { plainFrame, PlainFrameReader } from './plain-frames.js';
import { PROTOCOL_LIMITS } from '../wire/limits.js';

/** Exports of `ws` that its types lack. */
const { Receiver, Sender } = ws as unknown as {
  readonly Receiver: new () => Writable;
  readonly Sender: { frame(data: Buffer, options: object): Buffer[] };
};

class Found {
  readonly messages: Buffer[] = [];
  others = Buffer.alloc(0);

  message(parts: readonly Buffer[]): void {
    // The first part contains the header. All parts between the first and the last have at least `LEAST_PART_BYTES`.
    const whole = Buffer.concat(parts);
    const [first, ...rest] = parts.map(({ length }) => length);
    expect(first).toBeGreaterThanOrEqual(Math.min(40, whole.length));
    for (const length of rest.slice(0, -1)) expect(length).toBeGreaterThanOrEqual(4096);
    this.messages.push(whole);
  }

  other(bytes: Buffer): void {
    this.others = Buffer.concat([this.others, bytes]);
  }
}

const frameOf = (
  payload: Buffer,
  options: { opcode: number; fin: boolean; mask?: Buffer },
): Buffer => {
  const { opcode, fin, mask } = options;
  const generateMask = (target: Buffer): void => void mask?.copy(target);
  const more = { mask: mask !== undefined, generateMask, readOnly: true, rsv1: false };
  return Buffer.concat(Sender.frame(Buffer.from(payload), { opcode, fin, ...more }));
};

function read(bytes: Buffer, cuts: readonly number[], { fromClient = true } = {}): Found {
  const found = new Found();
  const reader = new PlainFrameReader(fromClient, found);
  let at = 0;
  for (const cut of cuts) {
    if (cut > 0 && at < bytes.length) reader.take(Buffer.from(bytes.subarray(at, (at += cut))));
  }
  if (at < bytes.length) reader.take(Buffer.from(bytes.subarray(at)));
  return found;
}

const zero = Buffer.alloc(4);
const random = Buffer.from([1, 2, 3, 4]);
const body = Buffer.from('some text');

describe('the plain frames of a connection', () => {
  it.each([
    [125, true],
    [125, false],
    [126, true],
    [126, false],
    [65_535, true],
    [65_535, false],
    [65_536, true],
    [65_536, false],
    [PROTOCOL_LIMITS.messageBytes, true],
  ])('has the octets that ws gives a message of %d bytes (client: %s)', (length, isClient) => {
    const message = Buffer.alloc(length, 7);
    const frame = frameOf(message, { opcode: 2, fin: true, ...(isClient && { mask: zero }) });
    expect(plainFrame(isClient, message, 0).equals(frame)).toBe(true);
    const [first, rest] = [message.subarray(0, 20), message.subarray(20)];
    const head = plainFrame(isClient, first, rest.length);
    expect(Buffer.concat([head, rest]).equals(frame)).toBe(true);
  });

  it('finds every message and leaves every other frame as it was, however the bytes are cut', () => {
    const frame = fc.oneof(
      fc.record({
        kind: fc.constant('plain' as const),
        length: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.constantFrom(126, 65_535, 65_536)),
      }),
      fc.record({
        kind: fc.constantFrom('masked', 'ping', 'text', 'fragments', 'empty'),
        length: fc.integer({ min: 0, max: 125 }),
      }),
    );
    const cuts = fc.array(fc.oneof(fc.integer({ min: 1, max: 20 }), fc.integer({ max: 70_000 })), {
      maxLength: 40,
    });
    fc.assert(
      fc.property(fc.array(frame, { maxLength: 12 }), cuts, (frames, cut) => {
        const plain: Buffer[] = [];
        const others: Buffer[] = [];
        const all = frames.map(({ kind, length }, index) => {
          const payload = Buffer.alloc(length, index + 1);
          const wire =
            kind === 'plain'
              ? [frameOf(payload, { opcode: 2, fin: true, mask: zero })]
              : kind === 'masked'
                ? [frameOf(Buffer.alloc(length + 1), { opcode: 2, fin: true, mask: random })]
                : kind === 'ping'
                  ? [frameOf(payload, { opcode: 9, fin: true, mask: zero })]
                  : kind === 'text'
                    ? [frameOf(payload, { opcode: 1, fin: true, mask: zero })]
                    : kind === 'empty'
                      ? [frameOf(Buffer.alloc(0), { opcode: 2, fin: true, mask: zero })]
                      : [
                          frameOf(payload, { opcode: 2, fin: false, mask: zero }),
                          frameOf(payload, { opcode: 9, fin: true, mask: zero }),
                          frameOf(payload, { opcode: 0, fin: false, mask: zero }),
                          frameOf(payload, { opcode: 0, fin: true, mask: zero }),
                        ];
          if (kind === 'plain') plain.push(payload);
          else others.push(...wire);
          return Buffer.concat(wire);
        });
        const found = read(Buffer.concat(all), cut);
        expect(found.messages.length).toBe(plain.length);
        expect(found.messages.every((message, index) => plain[index]?.equals(message))).toBe(true);
        expect(found.others.equals(Buffer.concat(others))).toBe(true);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ['without a mask from a client', true, frameOf(body, { opcode: 2, fin: true })],
    ['with a mask from a server', false, frameOf(body, { opcode: 2, fin: true, mask: zero })],
    ['with bits of an extension', false, Buffer.concat([Buffer.from([0xc2, body.length]), body])],
    [
      'above the limit',
      false,
      frameOf(Buffer.alloc(PROTOCOL_LIMITS.messageBytes + 1), { opcode: 2, fin: true }),
    ],
    ['of another opcode', false, frameOf(body, { opcode: 3, fin: true })],
  ])('leaves a frame %s to the WebSocket', (_what, fromClient, bytes) => {
    const found = read(bytes, [3, 5], { fromClient });
    expect(found.messages).toEqual([]);
    expect(found.others.equals(bytes)).toBe(true);
  });

  it('leaves a whole frame to the WebSocket while a message in several frames goes on, and it says what is wrong', async () => {
    const begun = frameOf(body, { opcode: 2, fin: false });
    const bytes = Buffer.concat([begun, frameOf(body, { opcode: 2, fin: true })]);
    const { messages, others } = read(bytes, [], { fromClient: false });
    expect(messages).toEqual([]);
    const receiver = new Receiver();
    const failed = new Promise<Error>((resolve) => receiver.once('error', resolve));
    receiver.write(others);
    expect((await failed).message).toMatch(/invalid opcode 2/);
  });

  it('finds nothing after a Close', () => {
    const close = frameOf(Buffer.from([3, 232]), { opcode: 8, fin: true });
    const bytes = Buffer.concat([close, frameOf(body, { opcode: 2, fin: true })]);
    const found = read(bytes, [1, 1, 4], { fromClient: false });
    expect(found.messages).toEqual([]);
    expect(found.others.equals(bytes)).toBe(true);
  });
});
