import fc from 'fast-check';
import { duplexPair } from 'node:stream';
import { FLAG, FRAME, frame, PREFACE, settingsFrame } from './frame.js';
import { HpackEncoder } from './hpack/hpack-encoder.js';
import type { ServedStream } from './served-stream.js';
import { serveHttp2Connection } from './serve-http2-connection.js';
import { CountingPool, echo, grpcMessage } from './testing/index.js';

const RUNS = Number(process.env['WINS_FUZZ_RUNS'] ?? 300);

const CALL = new HpackEncoder().encode([
  [':method', 'POST'],
  [':scheme', 'http'],
  [':path', '/x.Y/Z'],
  ['content-type', 'application/grpc'],
]);
const FORBIDDEN = Buffer.concat([
  CALL,
  new HpackEncoder().encode([['connection', 'close']]).subarray(1),
]);
const TRAILERS = Buffer.of(0x0f, 0x2d, 0);

const payload = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(CALL, FORBIDDEN, TRAILERS) },
  { weight: 3, arbitrary: fc.nat(3000).map((length) => grpcMessage(Buffer.alloc(length))) },
  {
    weight: 1,
    arbitrary: fc.nat(20).map((length) => grpcMessage('0123456789').subarray(0, length)),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0, 4, 5, 6, 8, 12).map((length) => Buffer.alloc(length, 1)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 40 }).map((octets) => Buffer.from(octets)) },
);
const flags = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom(0, FLAG.endHeaders, FLAG.endHeaders | FLAG.endStream) },
  { weight: 1, arbitrary: fc.nat(255) },
);
/** Few ids, so that several frames often belong to one stream. */
const streamId = fc.constantFrom(0, 1, 1, 3, 3, 5, 7, 9, 11, 2);
const anyFrame = fc.tuple(fc.nat(10), flags, streamId, payload).map((parts) => frame(...parts));
/** Frames that are more likely to be valid: calls, messages and resets. */
const likely = fc
  .tuple(
    fc.constantFrom(FRAME.headers, FRAME.data, FRAME.data, FRAME.rstStream),
    fc.constantFrom(1, 3, 5, 7, 9),
  )
  .chain(([type, id]) => {
    if (type === FRAME.headers) {
      return fc.boolean().map((end) => frame(type, FLAG.endHeaders | Number(end), id, CALL));
    }
    if (type === FRAME.rstStream) return fc.constant(frame(type, 0, id, Buffer.of(0, 0, 0, 8)));
    return fc
      .tuple(fc.boolean(), fc.nat(2000))
      .map(([end, length]) => frame(type, Number(end), id, grpcMessage(Buffer.alloc(length))));
  });

type Handler = (stream: ServedStream) => void;
const HANDLERS: readonly Handler[] = [
  echo,
  () => undefined,
  (stream) => stream.respond({ ':status': 200 }, { endStream: true }),
  (stream) => stream.close(2),
  (stream) => {
    stream.respond({ ':status': 200 });
    stream.write(Buffer.alloc(300_000));
  },
];

describe('random orders of frames', () => {
  it('are served or ended, never throw, and leave nothing behind', async () => {
    const property = fc.asyncProperty(
      fc.array(fc.oneof({ weight: 2, arbitrary: likely }, { weight: 1, arbitrary: anyFrame }), {
        maxLength: 40,
      }),
      fc.array(fc.integer({ min: 1, max: 5000 }), { maxLength: 20 }),
      fc.constantFrom(...HANDLERS),
      async (frames, cuts, handler) => {
        const [client, socket] = duplexPair();
        const inbound = new CountingPool();
        const outbound = new CountingPool();
        const streams: ServedStream[] = [];
        const ends: string[] = [];
        const connection = serveHttp2Connection(socket, {
          ...{ inbound, outbound },
          peer: { remoteAddress: 'pipe', remotePort: 1 },
          limits: { lingerMs: 1 },
          onEnd: (reason) => ends.push(reason),
          onStream: (stream) => {
            streams.push(stream);
            handler(stream);
          },
        });
        client.on('error', () => undefined).resume();
        let rest = Buffer.concat([PREFACE, settingsFrame([]), ...frames]);
        for (const cut of cuts) {
          client.write(rest.subarray(0, cut));
          rest = rest.subarray(cut);
          await new Promise((resolve) => setImmediate(resolve));
        }
        client.end(rest);
        await connection.closed;
        expect(ends).toHaveLength(1);
        expect(streams.filter(({ destroyed }) => !destroyed)).toEqual([]);
        expect([inbound.held, outbound.held]).toEqual([0, 0]);
      },
    );
    await fc.assert(property, { numRuns: RUNS });
  });
});
