import { ServerCredentials } from '@grpc/grpc-js';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, constants } from 'node:http2';
import { connect as connectSocket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createGuardedServer } from './guarded-server.js';

describe('the gRPC server', () => {
  it('survives a stream that was reset before it was looked at, and goes on to answer', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-guarded-'));
    const socket = path.join(folder, 'socket');
    const server = createGuardedServer({});
    await new Promise<void>((resolve, reject) => {
      server.bindAsync(`unix:${socket}`, ServerCredentials.createInsecure(), (error) => {
        if (error === null) resolve();
        else reject(error);
      });
    });
    const session = connect('http://localhost', { createConnection: () => connectSocket(socket) });
    await once(session, 'remoteSettings');
    // Without a content type grpc-js responds at once, which throws on a stream that is gone.
    const resets = Array.from({ length: 20 }, async () => {
      const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z' });
      stream.on('error', () => undefined);
      stream.close(constants.NGHTTP2_CANCEL);
      await new Promise((resolve) => stream.once('close', resolve));
    });
    await Promise.all(resets);

    const stream = session.request({ ':method': 'POST', ':path': '/x.Y/Z' });
    const [headers] = (await once(stream, 'response')) as [Record<string, unknown>];
    expect(headers[':status']).toBe(415);
    session.destroy();
    server.forceShutdown();
    rmSync(folder, { recursive: true });
  });
});
