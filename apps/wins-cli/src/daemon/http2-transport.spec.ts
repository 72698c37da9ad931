import { FrameServer } from '@wins/http2-connection/testing';
import { RecordedDaemon } from '@wins/wins-api/testing';
import { createUnaryClient, type UnaryClient } from '@wins/wins-api/unary';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Http2Transport, type OpenSocket } from './http2-transport.js';

const openAt =
  (where: string): OpenSocket =>
  async () => {
    const socket = connect(where);
    await once(socket, 'connect');
    return socket;
  };

describe('a client of calls with one answer', () => {
  let folder: string;
  let address: string;

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'wins-transport-'));
    address = path.join(folder, 's');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  function client(options: Partial<Parameters<typeof createUnaryClient>[0]> = {}): UnaryClient {
    const transport = new Http2Transport(openAt(address));
    return createUnaryClient({ address, transport, ...options });
  }

  it('reads what a Go daemon of release 0.1.1 answers', async () => {
    {
      await using _daemon = await RecordedDaemon.listen(address, 'app-info');
      await using asker = client();
      expect(await asker.info()).toMatchObject({ Version: expect.any(String) as string });
    }
    {
      await using _daemon = await RecordedDaemon.listen(address, 'host-get-version');
      await using asker = client();
      expect(await asker.host.version()).toMatchObject({ CurrentMajorVersionNumber: '10' });
    }
    await using _daemon = await RecordedDaemon.listen(address, 'hns-get-network-error');
    await using asker = client();
    await expect(asker.host.hnsNetwork({ name: 'x' })).rejects.toMatchObject({
      method: 'GetNetwork',
      connectionLost: false,
      grpcCode: expect.any(Number) as number,
    });
  });

  it('says what it was refused, by which reason, and sends its name', async () => {
    await using server = await FrameServer.listen({
      onStream: (stream) =>
        stream.respond(
          {
            ':status': 200,
            'grpc-status': 7,
            'grpc-message': 'no %C3%A4',
            'wins-error': 'notAdmin',
          },
          { endStream: true },
        ),
    });
    const transport = new Http2Transport(openAt(server.address));
    await using asker = client({ transport, clientName: 'node-1/7' });
    await expect(asker.config.describe()).rejects.toMatchObject({
      ...{ code: 'refused', details: 'no ä', reason: 'notAdmin', grpcCode: 7 },
      message: `Describe at ${address}: no ä`,
    });
    expect(server.requests[0]).toMatchObject({ 'wins-client': 'node-1/7' });
  });

  it('gives up on a daemon that answers nothing, and cuts its connection at once', async () => {
    await using server = await FrameServer.listen({ onStream: () => undefined });
    const transport = new Http2Transport(openAt(server.address));
    const asker = client({ transport, answerTimeoutMs: 200 });
    await expect(asker.info()).rejects.toMatchObject({ code: 'deadlineExceeded' });
    await asker.close();
    await server.until(() => server.places === 0);
    expect(server.streams[0]?.rstCode).toBe(8);
    await expect(asker.info()).rejects.toMatchObject({ code: 'failedPrecondition' });
  });

  it.each<[string, (socket: Socket) => void, object]>([
    [
      'never speaks',
      () => undefined,
      { details: expect.stringContaining('within 50 ms') as string, grpcCode: undefined },
    ],
    [
      'hangs up',
      (socket) => socket.destroy(),
      { details: 'no connection: what serves it hung up before it spoke HTTP/2' },
    ],
    [
      'speaks HTTP/1.1',
      (socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
      { details: 'no connection: what serves it does not speak HTTP/2' },
    ],
  ])('is not connected to a server that %s', async (_what, serve, expected) => {
    const sockets: Socket[] = [];
    const listener = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      serve(socket);
    }).listen(address);
    await once(listener, 'listening');
    const asker = client({ connectTimeoutMs: 50 });
    const lost = { code: 'unavailable', connectionLost: false };
    await expect(asker.info()).rejects.toMatchObject({ ...lost, ...expected });
    await asker.close();
    for (const socket of sockets) socket.destroy();
    listener.close();
  });

  it('connects anew after its connection was lost, and says so of the call under way', async () => {
    let answers = false;
    await using server = await FrameServer.listen({
      onStream: (stream) =>
        answers && stream.respond({ ':status': 200, 'grpc-status': 12 }, { endStream: true }),
    });
    const events: string[] = [];
    const transport = new Http2Transport(openAt(server.address));
    await using asker = client({ transport, onCallEvent: ({ kind }) => events.push(kind) });
    const call = asker.listProcesses();
    await server.until(() => server.streams.length === 1);
    void server.connections[0]?.close();
    await expect(call).rejects.toMatchObject({ code: 'unavailable', connectionLost: true });
    answers = true;
    await expect(asker.listProcesses()).rejects.toMatchObject({ code: 'unimplemented' });
    expect(server.connections).toHaveLength(2);
    expect(events).toEqual(
      expect.arrayContaining(['connecting', 'called', 'connected', 'ended', 'connecting']),
    );
  });

  it('says why there is no connection, and that its caller cancelled', async () => {
    const cause = new Error('not ours');
    const transport = new Http2Transport(() => Promise.reject(cause));
    await using asker = client({ transport });
    await expect(asker.info()).rejects.toMatchObject({
      ...{ code: 'unavailable', details: 'no connection: not ours', cause },
    });
    const signal = AbortSignal.abort();
    await expect(asker.info({ signal })).rejects.toMatchObject({ code: 'cancelled' });
  });

  it('leaves no connection behind that comes after it was closed', async () => {
    const aborted = new Promise<void>((resolve) => {
      const transport = new Http2Transport(
        (signal) =>
          new Promise((_resolve, reject) =>
            signal.addEventListener('abort', () => {
              resolve();
              reject(new Error('given up'));
            }),
          ),
      );
      const asker = client({ transport });
      asker.info().catch(() => undefined);
      setImmediate(() => void asker.close());
    });
    await aborted;
  });
});
