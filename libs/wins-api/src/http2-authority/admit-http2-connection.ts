import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { AuthorityStream } from './authority-stream.js';
import { classifyHttp2Client, OPENING_BYTES } from './classify-http2-client.js';
import { createAuthorityRewriter } from './create-authority-rewriter.js';

/**
 * Looks at the first octets of an accepted connection and gives the stream to hand to the HTTP/2 server.
 *
 * That is the socket itself, its octets put back, unless the client may be an old grpc-go: then it is a Duplex over the
 * socket that rewrites the authority. Octets that are no HTTP/2 are handed over too, for the server to refuse. `undefined` when
 * the client went away first; the socket is destroyed then. Never rejects.
 *
 * At most one read of the socket is kept in memory. Time is not bounded here: whoever accepted the socket destroys it when
 * its handshake takes too long. Errors of the socket are reported by the HTTP/2 session that gets the stream, which owns it.
 */
export function admitHttp2Connection(socket: Socket): Promise<Duplex | undefined> {
  // Stays for good: an error between two owners must not end the process.
  socket.on('error', () => undefined);
  return new Promise((resolve) => {
    let opening: Buffer = Buffer.alloc(0);

    const settle = (stream: Duplex | undefined) => {
      socket.off('readable', onReadable);
      socket.off('end', onGone);
      socket.off('close', onGone);
      resolve(stream);
    };
    const onGone = () => {
      socket.destroy();
      settle(undefined);
    };
    const onReadable = () => {
      for (;;) {
        const chunk = socket.read() as Buffer | null;
        if (chunk === null) return;
        opening = opening.length === 0 ? chunk : Buffer.concat([opening, chunk]);
        const client = classifyHttp2Client(opening.subarray(0, OPENING_BYTES));
        if (client === 'undecided') continue;
        socket.unshift(opening);
        const rewrites = client === 'perhapsOldGrpcGo';
        settle(rewrites ? new AuthorityStream(socket, createAuthorityRewriter()) : socket);
        return;
      }
    };

    if (socket.destroyed) {
      settle(undefined);
      return;
    }
    socket.on('readable', onReadable);
    socket.on('end', onGone);
    socket.on('close', onGone);
  });
}
