import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect, Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { ConnectRecord } from './serve-tunnel.js';
import { livingBytes, turns } from './testing/living-bytes.js';
import { readAll, startTcpServer, until, type TcpServer } from './testing/tcp-server.js';
import { openPair, type TunnelPair } from './testing/tunnel-pair.js';
import type { TunnelStream } from './stream/tunnel-stream.js';
import { dialTcp } from './tcp/tcp-connector.js';
import { listenTcp, type TcpListener } from './tcp/tcp-listener.js';
import { TunnelError } from './tunnel-error.js';

const MIB = 1024 * 1024;

describe('a tunnel between two of our peers', () => {
  const closers: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function target(...args: Parameters<typeof startTcpServer>): Promise<TcpServer> {
    const server = await startTcpServer(...args);
    closers.push(() => server.close());
    return server;
  }
  async function pair(...args: Parameters<typeof openPair>): Promise<TunnelPair> {
    const opened = await openPair(...args);
    closers.push(() => opened.close());
    return opened;
  }
  async function publish(tunnel: TunnelPair, port: number): Promise<TcpListener> {
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: () => tunnel.client.connect(port),
    });
    closers.push(() => listener.close());
    return listener;
  }
  function dial(listener: TcpListener): Socket {
    return connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
  }

  it('carries bytes both ways between a client program and a host port', async () => {
    const echo = await target((socket) => socket.pipe(socket));
    const tunnel = await pair({ allowedPorts: [echo.port] });
    const listener = await publish(tunnel, echo.port);
    const socket = dial(listener);
    const sent = randomBytes(300_000);
    socket.end(sent);
    expect((await readAll(socket)).equals(sent)).toBe(true);
    await until(() => tunnel.client.streamCount + tunnel.server.streamCount === 0);
  });

  it('keeps the bytes of programs that fill each read apart', async () => {
    let last = 0;
    const filled = await target((socket) => socket.end(Buffer.alloc(2 * MIB, (last += 1))));
    const tunnel = await pair({ allowedPorts: [filled.port] });
    const listener = await publish(tunnel, filled.port);
    const all = await Promise.all(Array.from({ length: 8 }, () => readAll(dial(listener).end())));
    const firsts = all.map((bytes) => bytes.at(0) ?? 0);
    expect(firsts.toSorted()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
    all.forEach((bytes, index) =>
      expect(bytes.equals(Buffer.alloc(2 * MIB, firsts[index]))).toBe(true),
    );
  });

  it('counts what all its streams have moved, and tells how each dial has ended', async () => {
    const echo = await target((socket) => socket.pipe(socket));
    const silent = await target(() => undefined);
    const gone = silent.port;
    await silent.close();
    const dials: (readonly [number, string | undefined])[] = [];
    const tunnel = await pair({
      allowedPorts: [echo.port, gone],
      onDialed: (port, failure) => dials.push([port, failure?.code]),
    });
    for (const port of [echo.port, echo.port, gone]) {
      const socket = dial(await publish(tunnel, port)).on('error', () => undefined);
      const sent = randomBytes(1000);
      socket.end(sent);
      await readAll(socket).catch(() => undefined);
    }
    await until(() => tunnel.client.streamCount + tunnel.server.streamCount === 0);
    expect(dials).toEqual([
      [echo.port, undefined],
      [echo.port, undefined],
      [gone, 'dialRefused'],
    ]);
    expect(tunnel.server.traffic).toMatchObject({ sentBytes: 2000, pauses: 0 });
    expect(tunnel.client.traffic.receivedBytes).toBe(2000);
    expect(tunnel.server.traffic.receivedBytes).toBeGreaterThanOrEqual(2000);
  });

  it('counts that the peer was asked to pause a stream whose program does not read', async () => {
    const silent = await target((socket) => void socket.pause());
    const tunnel = await pair({ allowedPorts: [silent.port] });
    const socket = dial(await publish(tunnel, silent.port)).on('error', () => undefined);
    const more = (): void => {
      while (socket.write(Buffer.alloc(MIB)));
    };
    socket.on('drain', more);
    more();
    await until(() => tunnel.server.traffic.pauses > 0);
    socket.destroy();
  });

  it('gives out each stream that is dialled, with the bytes that it carries', async () => {
    const server = await target((socket) => {
      void readAll(socket).then((request) => socket.end(`got ${request.length}`));
    });
    const given: [TunnelStream, number][] = [];
    const tunnel = await pair({
      allowedPorts: [server.port],
      onStream: (...stream) => given.push(stream),
    });
    const stream = tunnel.client.connect(server.port);
    stream.end(Buffer.alloc(70_000));
    await readAll(stream);
    tunnel.client.connect(1).once('error', () => undefined);
    await until(() => tunnel.client.streamCount + tunnel.server.streamCount === 0);
    expect([stream.bytesRead, stream.bytesWritten]).toEqual(['got 70000'.length, 70_000]);
    expect(
      given.map(([{ bytesRead, bytesWritten }, port]) => [port, bytesRead, bytesWritten]),
    ).toEqual([[server.port, 70_000, 'got 70000'.length]]);
  });

  it('brings the answer of a server that waits for the end of the request', async () => {
    const server = await target((socket) => {
      void readAll(socket).then((request) => socket.end(`got ${request.length}`));
    });
    const tunnel = await pair({ allowedPorts: [server.port] });
    const stream = tunnel.client.connect(server.port);
    stream.end(Buffer.alloc(70_000));
    expect((await readAll(stream)).toString()).toBe('got 70000');
  });

  it('lets a client go on sending after the server ended its answer', async () => {
    let upload: Promise<Buffer> | undefined;
    const server = await target((socket) => {
      upload = readAll(socket);
      socket.end('early answer');
    });
    const tunnel = await pair({ allowedPorts: [server.port] });
    const stream = tunnel.client.connect(server.port);
    expect((await readAll(stream)).toString()).toBe('early answer');
    stream.end('late request');
    await once(stream, 'close');
    expect((await upload)?.toString()).toBe('late request');
  });

  it('refuses a port that is not allowed, ends that stream alone and keeps a record', async () => {
    const records: ConnectRecord[] = [];
    const echo = await target((socket) => socket.pipe(socket));
    const other = await target((socket) => socket.end('secret'));
    const tunnel = await pair({
      allowedPorts: [echo.port],
      onConnect: (record) => records.push(record),
    });
    const good = tunnel.client.connect(echo.port);
    const bad = tunnel.client.connect(other.port);
    const [error] = (await once(bad, 'error')) as [TunnelError];
    expect(error).toMatchObject({ code: 'connectRefused', rule: 'port-not-listed', streamId: 2 });
    expect(error.message).toBe(
      'cannot open the stream: the peer answered: connect not allowed: port-allowed',
    );
    good.end('still here');
    expect((await readAll(good)).toString()).toBe('still here');
    expect(records).toEqual([
      {
        streamId: 1,
        address: `tcp/localhost:${echo.port}`,
        allowed: true,
        protocol: 'tcp',
        rule: 'port-allowed',
        port: echo.port,
      },
      {
        streamId: 2,
        address: `tcp/localhost:${other.port}`,
        allowed: false,
        rule: 'port-not-listed',
        port: other.port,
      },
    ]);
    tunnel.server.allowPorts([other.port]);
    expect((await readAll(tunnel.client.connect(other.port))).toString()).toBe('secret');
  });

  it('reaches a port that listens on the IPv6 loopback only', async () => {
    const server = await target((socket) => socket.end('six'), '::1');
    const tunnel = await pair({ allowedPorts: [server.port] });
    const stream = tunnel.client.connect(server.port);
    stream.end();
    expect((await readAll(stream)).toString()).toBe('six');
  });

  it('reports a refused dial on its stream alone', async () => {
    const closed = await startTcpServer(() => undefined);
    await closed.close();
    const tunnel = await pair({ allowedPorts: [closed.port] });
    const [error] = (await once(tunnel.client.connect(closed.port), 'error')) as [TunnelError];
    expect(error).toMatchObject({ code: 'dialRefused', peerText: 'connect failed: dialRefused' });
    expect(tunnel.client.state).toBe('open');
  });

  it('gives up a dial that is never answered, on its stream alone', async () => {
    const tunnel = await pair({
      allowedPorts: [1],
      times: { dialTimeoutMs: 20 },
      dial: () => new Socket(),
    });
    const [error] = (await once(tunnel.client.connect(1), 'error')) as [TunnelError];
    expect(error.code).toBe('dialTimeout');
    await until(() => tunnel.server.streamCount === 0);
    expect(tunnel.client.state).toBe('open');
  });

  it('stops a dial whose client has gone', async () => {
    const dialled: Socket[] = [];
    const tunnel = await pair({
      allowedPorts: [1],
      dial: () => {
        const socket = new Socket();
        dialled.push(socket);
        return socket;
      },
    });
    const stream = tunnel.client.connect(1);
    await until(() => dialled.length === 1);
    stream.destroy();
    await until(() => dialled[0]?.destroyed === true);
    expect(dialled).toHaveLength(1);
  });

  it('passes a reset of the host program on, after what it had sent', async () => {
    const server = await target((socket) => {
      socket.write('partial');
      socket.once('data', () => socket.resetAndDestroy());
    });
    const tunnel = await pair({ allowedPorts: [server.port] });
    const socket = dial(await publish(tunnel, server.port));
    const [first] = (await once(socket, 'data')) as [Buffer];
    expect(first.toString()).toBe('partial');
    socket.write('now');
    const [error] = (await once(socket, 'error')) as [NodeJS.ErrnoException];
    expect(error.code).toBe('ECONNRESET');
    expect(tunnel.client.state).toBe('open');
  });

  it('passes a reset of the client program on', async () => {
    let failed: Promise<unknown> | undefined;
    const server = await target((socket) => {
      failed = new Promise((resolve) => socket.once('close', resolve));
      socket.on('error', () => undefined).resume();
      socket.write('go');
    });
    const tunnel = await pair({ allowedPorts: [server.port] });
    const socket = dial(await publish(tunnel, server.port));
    await once(socket, 'data');
    socket.resetAndDestroy();
    await until(() => failed !== undefined);
    expect(await failed).toBe(true);
    await until(() => tunnel.client.streamCount + tunnel.server.streamCount === 0);
  });

  it('delivers the answer of a server that closes while the client still sends', async () => {
    const answer = randomBytes(200_000);
    const server = await target((socket) => socket.once('data', () => socket.pause().end(answer)));
    const tunnel = await pair({ allowedPorts: [server.port] });
    const socket = dial(await publish(tunnel, server.port));
    socket.on('error', () => undefined);
    socket.write(Buffer.alloc(MIB));
    const chunks: Buffer[] = [];
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    await until(() => chunks.reduce((sum, chunk) => sum + chunk.length, 0) === answer.length);
    expect(Buffer.concat(chunks).equals(answer)).toBe(true);
    socket.destroy();
  });

  it('carries 24 MiB each way exactly, past a reader that stalls again and again', async () => {
    const size = 24 * MIB;
    const block = randomBytes(MIB);
    const server = await target((socket) => {
      void writeBlocks(socket, block, size);
      void digestStalling(socket).then((digest) => (uploaded = digest));
    });
    let uploaded = '';
    const tunnel = await pair({ allowedPorts: [server.port] });
    const socket = dial(await publish(tunnel, server.port));
    const [, downloaded] = await Promise.all([
      writeBlocks(socket, block, size),
      digestStalling(socket),
    ]);
    await until(() => uploaded !== '');
    const wanted = createHash('sha256');
    for (let at = 0; at < size; at += MIB) wanted.update(block);
    const digest = wanted.digest('hex');
    expect([uploaded, downloaded]).toEqual([digest, digest]);
    await until(() => tunnel.client.streamCount + tunnel.server.streamCount === 0);
  }, 180_000);

  it('passes a message that came in several reads on in one write', async () => {
    const echo = await target((socket) => socket.pipe(socket));
    const written: number[] = [];
    const tunnel = await pair({
      allowedPorts: [echo.port],
      dial: (to) => {
        const socket = dialTcp(to);
        const writev = socket._writev?.bind(socket);
        socket._writev = (chunks, done) => {
          written.push(chunks.reduce((sum, { chunk }) => sum + (chunk as Buffer).length, 0));
          writev?.(chunks, done);
        };
        return socket;
      },
    });
    const stream = tunnel.client.connect(echo.port);
    // After this answer the client has the server's Hello, so it may send long messages.
    stream.write('hello');
    await once(stream, 'data');
    stream.end(Buffer.alloc(100_000));
    await readAll(stream);
    expect(written).toContain(100_000);
  });

  it('keeps no more than the bytes themselves for a host program that does not read', async () => {
    const server = await target((socket) => socket.pause());
    const waiting: Buffer[] = [];
    const tunnel = await pair({
      allowedPorts: [server.port],
      dial: (to) => {
        const socket = dialTcp(to);
        const write = socket.write.bind<(chunk: Buffer) => boolean>(socket);
        socket.write = (chunk: Buffer) => {
          // Ignore corked writes, because the socket usually sends them as soon as it is uncorked.
          // They are the parts of one message.
          if (socket.writableLength > 0 && socket.writableCorked === 0) waiting.push(chunk);
          return write(chunk);
        };
        return socket;
      },
    });
    const stream = tunnel.client.connect(server.port);
    // A chunk of 20,000 bytes is longer than a quarter of a socket read (64 KiB). The tunnel copies such a chunk only
    // if the chunk must wait for the program.
    const write = () => stream.write(Buffer.alloc(20_000));
    while (waiting.length === 0) {
      if (!write()) await once(stream, 'drain');
    }
    expect(waiting.map((chunk) => chunk.buffer.byteLength - chunk.length)).toEqual(
      waiting.map(() => 0),
    );
    stream.destroy();
  });

  it('keeps one stream alive and memory bounded beside 100 readers that never read', async () => {
    const block = Buffer.alloc(64 * 1024);
    const server = await target((socket) => {
      socket.once('data', (first: Buffer) => {
        if (first.toString() !== 'flood') socket.end(first);
        else void writeBlocks(socket, block, 1024 * MIB).catch(() => undefined);
      });
    });
    const tunnel = await pair({ allowedPorts: [server.port] });
    const before = await livingBytes();
    const stalled = Array.from({ length: 100 }, () => tunnel.client.connect(server.port));
    for (const stream of stalled) {
      stream.on('error', () => undefined);
      stream.write('flood');
    }
    const taken = (): number =>
      [...server.sockets].reduce((sum, socket) => sum + socket.bytesWritten, 0);
    await until(() => server.sockets.size === 100);
    // After 2,000 turns without new bytes, back pressure has reached every program.
    for (let quiet = 0, last = 0; quiet < 2_000; quiet += 1) {
      await turns(1);
      if (taken() !== last) quiet = 0;
      last = taken();
    }
    for (let round = 0; round < 20; round += 1) {
      const live = tunnel.client.connect(server.port);
      live.write(`round ${round}`);
      expect((await readAll(live)).toString()).toBe(`round ${round}`);
      live.end();
    }
    // The limit is twice the buffers of both ends, which share this process.
    expect((await livingBytes()) - before).toBeLessThan(104 * MIB);
    for (const stream of stalled) stream.destroy();
    await until(() => tunnel.client.streamCount + tunnel.server.streamCount === 0);
  }, 180_000);

  it('carries 1,000 short connections and keeps nothing of them', async () => {
    const echo = await target((socket) => socket.pipe(socket));
    const tunnel = await pair({ allowedPorts: [echo.port] });
    const listener = await publish(tunnel, echo.port);
    const request = Buffer.alloc(100, 'x');
    const one = async (): Promise<void> => {
      const socket = dial(listener);
      socket.end(request);
      expect((await readAll(socket)).length).toBe(request.length);
    };
    const many = async (count: number): Promise<void> => {
      for (let at = 0; at < count; at += 50) await Promise.all(Array.from({ length: 50 }, one));
      await until(
        () =>
          tunnel.client.streamCount + tunnel.server.streamCount + listener.connectionCount === 0,
      );
    };
    await many(400);
    const handles = resources();
    const before = await livingBytes();
    await many(600);
    // The first count may include a socket that was still closing, so accept lower counts.
    await until(() => [...resources()].every(([kind, count]) => count <= (handles.get(kind) ?? 0)));
    expect((await livingBytes()) - before).toBeLessThan(MIB / 2);
  });
});

/** Counts only resources of connections; other kinds may belong to the test runner. */
function resources(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const kind of process.getActiveResourcesInfo()) {
    if (/^(TCP|Timeout)/.test(kind)) counts.set(kind, (counts.get(kind) ?? 0) + 1);
  }
  return counts;
}

async function writeBlocks(socket: Socket, block: Buffer, size: number): Promise<void> {
  for (let at = 0; at < size; at += block.length) {
    if (socket.destroyed) return;
    if (!socket.write(block)) await drained(socket);
  }
  socket.end();
}

function drained(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done).off('close', done);
      resolve();
    };
    socket.on('drain', done).on('close', done);
  });
}

function digestStalling(stream: Readable): Promise<string> {
  return new Promise((resolve, reject) => {
    const hash = createHash('sha256');
    let chunks = 0;
    stream.on('data', (chunk: Buffer) => {
      hash.update(chunk);
      chunks += 1;
      if (chunks % 64 !== 0) return;
      stream.pause();
      void turns(50).then(() => stream.resume());
    });
    stream.once('end', () => resolve(hash.digest('hex')));
    stream.once('error', reject);
  });
}
