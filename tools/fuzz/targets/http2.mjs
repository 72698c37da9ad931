import { duplexPair } from 'node:stream';
import { generateFrames, octetsOf } from '../http2-frames.mjs';
import { sendInPieces } from '../send-in-pieces.mjs';

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

/**
 * Creates a fuzz target, which checks that a connection never throws, and that it reports its end exactly once. After that end, no stream may be
 * open and no octets may be held.
 */
export async function openHttp2({ serveHttp2Connection }) {
  return {
    name: 'http2',
    generate: (rng) => ({
      ...generateFrames(rng, { paths: ['/x.Y/One', '/x.Y/Many'] }),
      handler: rng.pick(Object.keys(HANDLERS)),
    }),
    async run(given) {
      const [client, socket] = duplexPair();
      const accounts = [];
      const pool = { open: () => accounts[accounts.push(account()) - 1] };
      const streams = [];
      const ends = [];
      const connection = serveHttp2Connection(socket, {
        inbound: pool,
        outbound: pool,
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
      if (ends.length !== 1) throw new Error(`the end was reported ${ends.length} times`);
      const left = streams.filter(({ destroyed }) => !destroyed).length;
      if (left > 0) throw new Error(`${left} of ${streams.length} streams outlived the connection`);
      const held = accounts.map((each) => each.held);
      if (held.length !== 2 || held.some((octets) => octets !== 0))
        throw new Error(`accounts hold ${held.join(' and ')} octets after the end`);
    },
    close: () => undefined,
  };
}

function account() {
  const made = { held: 0, set: (held) => (made.held = held) };
  made.release = () => Object.assign(made, { held: 0, set: () => undefined });
  return made;
}
