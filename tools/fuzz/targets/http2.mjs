import { duplexPair } from 'node:stream';
import { generateFrames, octetsOf } from '../http2-frames.mjs';
import { sendInPieces } from '../send-in-pieces.mjs';

/** What gRPC may do with a call. */
const HANDLERS = {
  echo(stream) {
    const messages = [];
    stream.on('data', (message) => messages.push(message));
    stream.on('end', () => {
      stream.respond({ ':status': 200 }, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': 0 }));
      for (const message of messages) stream.write(message);
      stream.end();
    });
  },
  silence: () => undefined,
  refusal: (stream) => stream.respond({ ':status': 200 }, { endStream: true }),
  reset: (stream) => stream.close(2),
  flood(stream) {
    stream.respond({ ':status': 200 });
    stream.write(Buffer.alloc(300_000));
  },
};

/** A connection serves or ends, never throws, and holds nothing when it is over. */
export async function openHttp2({ serveHttp2Connection, OctetBudget }) {
  return {
    name: 'http2',
    generate: (rng) => ({
      ...generateFrames(rng, { paths: ['/x.Y/One', '/x.Y/Many'] }),
      handler: rng.pick(Object.keys(HANDLERS)),
    }),
    async run(given) {
      const [client, socket] = duplexPair();
      const inbound = new OctetBudget(1 << 26);
      const outbound = new OctetBudget(1 << 27);
      const streams = [];
      const ends = [];
      const connection = serveHttp2Connection(socket, {
        ...{ inbound, outbound },
        peer: { remoteAddress: 'pipe', remotePort: 1 },
        limits: { lingerMs: 1 },
        hasOneRequest: (path) => path !== '/x.Y/Many',
        onEnd: (reason) => ends.push(reason),
        onStream: (stream) => {
          streams.push(stream);
          HANDLERS[given.handler](stream);
        },
      });
      const sending = sendInPieces(client, octetsOf(given), given, socket);
      await connection.closed;
      client.destroy();
      await sending;
      if (ends.length !== 1) throw new Error(`the end was told ${ends.length} times`);
      const left = streams.filter(({ destroyed }) => !destroyed).length;
      if (left > 0) throw new Error(`${left} of ${streams.length} streams outlived it`);
      if (inbound.held + outbound.held !== 0)
        throw new Error(`budgets hold ${inbound.held} and ${outbound.held} octets after the end`);
    },
    close: () => undefined,
  };
}
