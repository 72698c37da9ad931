import { ServerCredentials } from '@grpc/grpc-js';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect } from 'node:http2';
import { connect as connectSocket, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Duplex } from 'node:stream';
import { createGuardedServer } from './guarded-server.js';

const [HEADERS, RST_STREAM, SETTINGS, PING] = [1, 3, 4, 6];
const [END_STREAM, END_HEADERS] = [1, 4];
/** :method POST, :scheme http, :path /, :authority x (RFC 7541, appendix A). */
const POST_TO_ROOT = '838684410178';

/** A frame of HTTP/2 (RFC 9113, section 4.1). */
function frame(type: number, flags: number, stream: number, payload: string): Buffer {
  const body = Buffer.from(payload, 'hex');
  const head = Buffer.alloc(9);
  head.writeUIntBE(body.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, body]);
}

describe('the gRPC server', () => {
  it('survives a stream that was reset before it was looked at, and goes on to answer', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-guarded-'));
    const socketPath = path.join(folder, 'socket');
    const server = createGuardedServer({});
    const injector = server.createConnectionInjector(ServerCredentials.createInsecure());
    // Behind a stream of JavaScript, as old Go clients are, a chunk is read whole before its events come.
    const listener = createServer((socket) =>
      injector.injectConnection(Duplex.from({ readable: socket, writable: socket })),
    );
    listener.listen(socketPath);
    await once(listener, 'listening');
    // Each request and its reset in one write, so that the server reads both before it looks at either.
    // Without a content type grpc-js responds at once, which throws on a stream that is gone.
    const socket = connectSocket(socketPath);
    socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
    socket.write(frame(SETTINGS, 0, 0, ''));
    for (let stream = 1; stream < 200; stream += 2) {
      const request = frame(HEADERS, END_STREAM | END_HEADERS, stream, POST_TO_ROOT);
      socket.write(Buffer.concat([request, frame(RST_STREAM, 0, stream, '00000008')]));
    }
    socket.write(frame(PING, 0, 0, '0102030405060708'));
    for (let received = ''; !received.includes('0102030405060708');) {
      received += ((await once(socket, 'data')) as [Buffer])[0].toString('hex');
    }
    socket.destroy();

    const session = connect('http://localhost', {
      createConnection: () => connectSocket(socketPath),
    });
    const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z' });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(415);
    session.destroy();
    server.forceShutdown();
    listener.close();
    rmSync(folder, { recursive: true });
  });
});
