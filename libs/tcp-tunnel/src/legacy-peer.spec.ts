import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { type ClientTunnel, type OpenTunnelOptions, openTunnel } from './client-tunnel.js';
import { createConnectLimits } from './session/connect-limits.js';
import { serveTunnel, type ServerTunnel, type ServeTunnelOptions } from './serve-tunnel.js';
import { RawPeer } from './testing/raw-peer.js';
import { readAll, startTcpServer, until } from './testing/tcp-server.js';
import { startTransportServer } from './testing/tunnel-pair.js';
import { listenTcp } from './tcp/tcp-listener.js';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function clientOfOldServer(
  options: OpenTunnelOptions = {},
): Promise<{ client: ClientTunnel; server: RawPeer }> {
  let accepted: (peer: RawPeer) => void = () => undefined;
  const peer = new Promise<RawPeer>((resolve) => (accepted = resolve));
  const transport = await startTransportServer((socket) => accepted(new RawPeer(socket)));
  closers.push(() => transport.close());
  const client = openTunnel(await transport.dial(), options);
  closers.push(() => client.close());
  return { client, server: await peer };
}

async function serverOfOldClient(
  options: ServeTunnelOptions,
): Promise<{ client: RawPeer; server: ServerTunnel }> {
  let accepted: (server: ServerTunnel) => void = () => undefined;
  const served = new Promise<ServerTunnel>((resolve) => (accepted = resolve));
  const transport = await startTransportServer((socket) => accepted(serveTunnel(socket, options)));
  closers.push(() => transport.close());
  const client = new RawPeer(await transport.dial());
  const server = await served;
  closers.push(() => server.close());
  return { client, server };
}

const FLOOD_BYTES = 48_000_000;

function flood(peer: RawPeer, id: number, bytes = FLOOD_BYTES): void {
  const part = Buffer.alloc(64_000);
  for (let sent = 0; sent < bytes; sent += part.length) peer.sendData(id, part);
}

describe('a client of a server that knows no half-close', () => {
  it('holds the end of a request back until the whole answer is there', async () => {
    const { client, server } = await clientOfOldServer();
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: () => client.connect(80),
    });
    closers.push(() => listener.close());
    const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
    const answer = readAll(socket);
    socket.end('request');
    await until(() => server.dataOf(1).toString() === 'request');
    server.sendData(1, 'first part, ');
    server.sendData(1, 'second part');
    server.send(server.encode.error(1, 'EOF'));
    expect((await answer).toString()).toBe('first part, second part');
    await until(() => listener.connectionCount + client.streamCount === 0);
    expect(server.count('error') + server.count('end')).toBe(0);
  });

  it('brings the whole answer to a client that goes on sending after it, then lets go of it', async () => {
    const { client, server } = await clientOfOldServer();
    const listener = await listenTcp({
      host: '127.0.0.1',
      port: 0,
      open: () => client.connect(80),
    });
    closers.push(() => listener.close());
    const socket = connect({ port: listener.port, host: '127.0.0.1', allowHalfOpen: true });
    socket.on('error', () => undefined);
    const answer = readAll(socket);
    const sending = setInterval(() => socket.write(Buffer.alloc(10_000)), 1);
    await until(() => server.dataOf(1).length > 0);
    for (let part = 0; part < 8; part += 1) server.sendData(1, Buffer.alloc(500_000, 'a'));
    server.send(server.encode.error(1, 'EOF'));
    expect((await answer).length).toBe(4_000_000);
    await until(() => client.streamCount === 0);
    await until(() => listener.connectionCount === 0);
    clearInterval(sending);
    socket.destroy();
  });

  it('gives the end up when the answer does not come', async () => {
    const { client, server } = await clientOfOldServer({
      times: { tickMs: 10, heldEndIdleMs: 30 },
    });
    const stream = client.connect(80);
    const closed = once(stream, 'close');
    stream.resume().end('request');
    expect(await server.errorOf(1)).toBe('EOF');
    await closed;
    expect(stream.readableEnded).toBe(true);
  });

  it('gives the end up soon after an answer that has stopped', async () => {
    const { client, server } = await clientOfOldServer();
    const stream = client.connect(80);
    stream.write('request');
    server.sendData(1, 'first');
    await once(stream, 'data');
    stream.end();
    expect(await server.errorOf(1)).toBe('EOF');
    await until(() => client.streamCount === 0);
  });

  it('gives ends up at once when it drains', async () => {
    const { client, server } = await clientOfOldServer();
    const stream = client.connect(80).resume();
    stream.end('request');
    await until(() => server.dataOf(1).toString() === 'request');
    expect(await client.drain()).toEqual({ reason: 'closed' });
    expect(await server.errorOf(1)).toBe('EOF');
  });

  it('takes a server for dead that answers no ping after a Connect, and names the port', async () => {
    const { client, server } = await clientOfOldServer({ times: { tickMs: 20 } });
    const quiet = client.connect(80);
    await until(() => server.count('connect') === 1);
    // While the server answers pings, it may send its data late.
    for (let pings = 0; pings < 6; pings += 1) await once(server.socket, 'ping');
    expect(client.state).toBe('open');
    const failed = Promise.all([once(quiet, 'error'), once(client.connect(81), 'error')]);
    server.socket.pause();
    expect(await client.closed).toMatchObject({
      reason: 'failed',
      error: { code: 'peerSilent', port: 81 },
    });
    await failed;
  });

  it('brings a whole answer to a reader that is slower than the server, which sends far ahead', async () => {
    const onPeerNeverPauses = jest.fn();
    const { client, server } = await clientOfOldServer({ onPeerNeverPauses });
    const stream = client.connect(80);
    flood(server, 1);
    // Wait until the client has buffered so much that it no longer reads from the server.
    await until(() => onPeerNeverPauses.mock.calls.length > 0);
    server.send(server.encode.error(1, 'EOF'));
    expect((await readAll(stream)).length).toBe(FLOOD_BYTES);
    expect(onPeerNeverPauses).toHaveBeenCalledTimes(1);
    expect(server.count('error')).toBe(0);
  });

  it('says hello once, tells the streams that it has open and pings', async () => {
    const { client, server } = await clientOfOldServer({
      times: { tickMs: 10, syncIntervalMs: 20 },
    });
    const pinged = once(server.socket, 'ping');
    client.connect(80).on('error', () => undefined);
    client.connect(81).on('error', () => undefined);
    await until(() => server.count('sync') > 1);
    await pinged;
    expect(server.received[0]).toEqual({ type: 'hello', revision: 2 });
    expect(server.count('hello')).toBe(1);
    expect(server.received.find((message) => message.type === 'sync')).toEqual({
      type: 'sync',
      ids: [1, 2],
    });
  });

  it('stops sending at a Pause and goes on at a Resume', async () => {
    const { client, server } = await clientOfOldServer();
    const stream = client.connect(80);
    stream.write('before');
    await until(() => server.dataOf(1).length === 6);
    server.send(server.encode.pause(1));
    const other = client.connect(81);
    server.sendData(2, 'the pause has arrived by now');
    await once(other, 'data');
    stream.write('after');
    other.write('other');
    await until(() => server.dataOf(2).toString() === 'other');
    expect(server.dataOf(1).toString()).toBe('before');
    server.send(server.encode.resume(1));
    await until(() => server.dataOf(1).toString() === 'beforeafter');
    stream.destroy();
    other.destroy();
  });

  it('asks a flooding server to pause, and resets a stream whose reader took nothing while others waited for it', async () => {
    const { client, server } = await clientOfOldServer({
      times: { tickMs: 20, stoppedReaderMs: 120 },
    });
    const stream = client.connect(80);
    const other = client.connect(81);
    const failed = once(stream, 'error');
    flood(server, 1);
    server.sendData(2, 'waited');
    expect(await failed).toEqual([expect.objectContaining({ code: 'readerStopped' })]);
    expect(server.count('pause')).toBeGreaterThan(0);
    other.resume();
    const [data] = (await once(other, 'data')) as [Buffer];
    expect(data.toString()).toBe('waited');
    other.destroy();
  });

  it('does not wait forever for a reader that stopped, whose stream the server has closed by then', async () => {
    let bytes = 0;
    const read = (chunk: Buffer): void => void (bytes += chunk.length);
    const { client, server } = await clientOfOldServer({
      times: { tickMs: 20, stoppedReaderMs: 120 },
      // The test begins to read `other` only here.
      // Without a slow reader, the client does not notice that the server ignores Pause.
      onPeerNeverPauses: () => other.on('data', read),
    });
    const stopped = client.connect(80);
    const other = client.connect(81);
    const failed = once(stopped, 'error');
    flood(server, 1, 4_000_000);
    server.send(server.encode.error(1, 'EOF'));
    flood(server, 2);
    expect(await failed).toEqual([expect.objectContaining({ code: 'readerStopped' })]);
    await until(() => bytes === FLOOD_BYTES);
    other.destroy();
  });

  it('gives up no reader that waits beside one that is slow', async () => {
    const { client, server } = await clientOfOldServer({
      times: { tickMs: 20, stoppedReaderMs: 120 },
    });
    const slow = client.connect(80);
    const idle = client.connect(81);
    const errors: unknown[] = [];
    for (const stream of [slow, idle]) stream.on('error', (error) => errors.push(error));
    server.sendData(2, Buffer.alloc(200_000));
    flood(server, 1);
    await until(() => server.count('pause') > 0);
    for (let pings = 0; pings < 15; pings += 1) {
      await once(server.socket, 'ping');
      slow.read();
    }
    expect(errors).toEqual([]);
    slow.destroy();
    idle.resume();
    await until(() => idle.bytesRead === 200_000);
    idle.destroy();
  });

  it('discards what is written after the server closed a stream', async () => {
    const { client, server } = await clientOfOldServer();
    const stream = client.connect(80);
    const other = client.connect(81);
    await until(() => server.count('connect') === 2);
    server.sendData(1, 'all');
    server.send(server.encode.error(1, 'EOF'));
    server.sendData(2, 'the end has arrived by now');
    await once(other, 'data');
    await new Promise((resolve) => stream.write('too late', resolve));
    other.write('other');
    await until(() => server.dataOf(2).toString() === 'other');
    expect(server.dataOf(1).length).toBe(0);
    expect((await readAll(stream)).toString()).toBe('all');
    await until(() => client.streamCount === 1);
    expect(stream.destroyed).toBe(true);
    other.destroy();
  });

  it('delivers what came before a failure, then the failure', async () => {
    const { client, server } = await clientOfOldServer();
    const stream = client.connect(80);
    await until(() => server.count('connect') === 1);
    server.sendData(1, Buffer.alloc(100_000, 'd'));
    server.send(server.encode.error(1, 'read: connection \u001b[31mreset'));
    let received = 0;
    stream.on('data', (chunk: Buffer) => (received += chunk.length));
    const [error] = (await once(stream, 'error')) as [Error];
    expect(received).toBe(100_000);
    expect(error.message).toBe('the peer reset the stream: read: connection \\u001b[31mreset');
  });
});

describe('a server of a client that knows no half-close', () => {
  it('sends the whole answer, then the clean end, and no message the client does not know', async () => {
    const target = await startTcpServer((socket) =>
      socket.once('data', () => socket.end(Buffer.alloc(200_000, 'a'))),
    );
    closers.push(() => target.close());
    const { client, server } = await serverOfOldClient({
      allowedPorts: [target.port],
      times: { tickMs: 10 },
    });
    client.send(client.encode.connect(1, `tcp/localhost:${target.port}`));
    client.sendData(1, 'request');
    expect(await client.errorOf(1)).toBe('EOF');
    expect(client.dataOf(1).length).toBe(200_000);
    await until(() => server.streamCount === 0);
    expect(new Set(client.received.map((message) => message.type))).toEqual(
      new Set(['data', 'error']),
    );
  });

  it('delivers a request whose end follows at once', async () => {
    let request: Promise<Buffer> | undefined;
    const target = await startTcpServer((socket) => {
      request = readAll(socket);
    });
    closers.push(() => target.close());
    const { client } = await serverOfOldClient({ allowedPorts: [target.port] });
    client.send(client.encode.connect(1, `tcp/localhost:${target.port}`));
    client.sendData(1, 'all of it');
    client.send(client.encode.error(1, 'EOF'));
    await until(() => request !== undefined);
    expect((await request)?.toString()).toBe('all of it');
  });

  it('brings a whole upload to a program that is slower than the client, and holds no more than a share of it', async () => {
    let program: Socket | undefined;
    const target = await startTcpServer((socket) => (program = socket.pause()));
    closers.push(() => target.close());
    const neverPauses = jest.fn();
    const { client, server } = await serverOfOldClient({
      allowedPorts: [target.port],
      onPeerNeverPauses: neverPauses,
    });
    client.send(client.encode.connect(1, `tcp/localhost:${target.port}`));
    flood(client, 1);
    client.send(client.encode.error(1, 'EOF'));
    await until(() => neverPauses.mock.calls.length > 0);
    // Data that the server does not read stays in the client's buffer.
    expect(client.socket.bufferedAmount).toBeGreaterThan(FLOOD_BYTES / 2);
    let bytes = 0;
    const closed = new Promise((resolve) => program?.once('end', resolve));
    program?.on('data', (chunk: Buffer) => (bytes += chunk.length)).resume();
    await closed;
    expect(bytes).toBe(FLOOD_BYTES);
    expect(neverPauses).toHaveBeenCalledTimes(1);
    expect(client.count('error')).toBe(0);
    program?.end();
    await until(() => server.streamCount === 0);
  });

  it('keeps the session of a client that reads nothing for an hour, although it goes on pinging', async () => {
    const target = await startTcpServer((socket) => socket.end(Buffer.alloc(8_000_000)));
    closers.push(() => target.close());
    const { client, server } = await serverOfOldClient({ allowedPorts: [target.port] });
    let pongs = 0;
    client.socket.on('pong', () => (pongs += 1));
    client.socket.pause();
    client.send(client.encode.connect(1, `tcp/localhost:${target.port}`));
    // Ping only after the answer has filled every buffer on its way, so that no pong can leave the server.
    await until(() => server.traffic.sentBytes > 1_000_000);
    for (let sent = 0; sent < 720; sent += 1) client.socket.ping();
    await new Promise((resolve) => client.socket.ping(undefined, undefined, resolve));
    client.socket.resume();
    expect(await client.errorOf(1)).toBe('EOF');
    expect(client.dataOf(1).length).toBe(8_000_000);
    await until(() => pongs === 721);
  });

  it('ends a stream that is idle for too long, as the client may never tell that it is over', async () => {
    const target = await startTcpServer((socket) => socket.resume());
    closers.push(() => target.close());
    const { client, server } = await serverOfOldClient({
      allowedPorts: [target.port],
      times: { tickMs: 20, untoldIdleMs: 200 },
    });
    for (const id of [1, 2]) client.send(client.encode.connect(id, `tcp/localhost:${target.port}`));
    await until(() => target.sockets.size === 2);
    const busy = setInterval(() => client.sendData(2, 'x'), 20);
    expect(await client.errorOf(1)).toBe(
      'no data for 0.2 s from a client that does not report its end',
    );
    await until(() => target.sockets.size === 1);
    clearInterval(busy);
    expect(await client.errorOf(2)).toContain('no data');
    await until(() => server.streamCount === 0);
  });

  it('answers data for a stream it does not have, and nothing else', async () => {
    const { client } = await serverOfOldClient({ allowedPorts: [] });
    client.send(client.encode.error(7, 'EOF'));
    client.send(client.encode.pause(7));
    client.send(client.encode.resume(7));
    client.sendData(8, 'x');
    expect(await client.errorOf(8)).toBe('connection not found tunnel/0/8');
    expect(client.received).toHaveLength(1);
  });

  it('keeps ids beyond 2^53 apart', async () => {
    const target = await startTcpServer((socket) => socket.pipe(socket));
    closers.push(() => target.close());
    const { client } = await serverOfOldClient({ allowedPorts: [target.port] });
    const [one, two] = [9_007_199_254_740_993n, 9_007_199_254_740_994n];
    for (const id of [one, two]) {
      client.send(client.encode.connect(id, `tcp/localhost:${target.port}`));
      client.sendData(id, `stream ${id}`);
    }
    await until(() => client.count('data') === 2);
    expect(client.dataOf(one).toString()).toBe(`stream ${one}`);
    expect(client.dataOf(two).toString()).toBe(`stream ${two}`);
  });

  it('closes streams that a list no longer names, except those just opened, and reports unknown ones', async () => {
    const target = await startTcpServer((socket) => socket.resume());
    closers.push(() => target.close());
    const { client, server } = await serverOfOldClient({
      allowedPorts: [target.port],
      times: { tickMs: 20 },
    });
    for (const id of [1, 2]) client.send(client.encode.connect(id, `tcp/localhost:${target.port}`));
    client.send(client.encode.sync([1, 99]));
    expect(await client.errorOf(99)).toContain('connection not found');
    await until(() => target.sockets.size === 2);
    const list = setInterval(() => client.send(client.encode.sync([1])), 5);
    await until(() => target.sockets.size === 1);
    clearInterval(list);
    await until(() => server.streamCount === 1);
    expect(
      client.received.filter((message) => message.type === 'error' && message.id !== 99),
    ).toEqual([]);
  });

  describe('beyond its limit of streams', () => {
    const STREAMS = 3;
    const replaced = /^replaced after \d+ s without data, because its client reports no ends$/;

    async function fullOf(options: Partial<ServeTunnelOptions> = {}) {
      const target = await startTcpServer((socket) => socket.pipe(socket));
      closers.push(() => target.close());
      const { client, server } = await serverOfOldClient({
        allowedPorts: [target.port],
        maxStreams: STREAMS,
        ...options,
      });
      const open = (id: number, port = target.port) =>
        client.send(client.encode.connect(id, `tcp/localhost:${port}`));
      const echo = async (id: number) => {
        const { length } = client.dataOf(id);
        client.sendData(id, 'works');
        await until(() => client.dataOf(id).length === length + 5);
      };
      for (let id = 1; id <= STREAMS; id += 1) {
        open(id);
        await echo(id);
      }
      return { target, client, server, open, echo };
    }

    it('serves each new stream in place of the one that was silent for longest, and keeps those that are used', async () => {
      const { target, client, server, open, echo } = await fullOf();
      for (let id = STREAMS + 1; id <= 20; id += 1) {
        await echo(2);
        open(id);
        await echo(id);
      }
      await echo(2);
      const ended = [1, 3, ...Array.from({ length: 15 }, (_, index) => index + STREAMS + 1)];
      for (const id of ended) expect(await client.errorOf(id)).toMatch(replaced);
      expect(client.count('error')).toBe(ended.length);
      expect(server.streamCount).toBe(STREAMS);
      await until(() => target.sockets.size === STREAMS);
    });

    it('ends the oldest first when many arrive at once, and serves the last ones', async () => {
      const { target, client, open, echo } = await fullOf();
      for (let id = STREAMS + 1; id <= 100; id += 1) open(id);
      for (let id = 100 - STREAMS + 1; id <= 100; id += 1) await echo(id);
      expect(client.count('error')).toBe(100 - STREAMS);
      const order = client.received.flatMap((message) =>
        message.type === 'error' ? [Number(message.id)] : [],
      );
      expect(order).toEqual([...order].sort((one, other) => one - other));
      await until(() => target.sockets.size === STREAMS);
    });

    it('ends no stream for a Connect that is refused for another reason', async () => {
      const rules: string[] = [];
      const limits = createConnectLimits({ burst: 2, perSecond: 1 }, () => 0).of('a');
      const { target, client, open, echo } = await fullOf({
        limits,
        onConnect: ({ allowed, rule }) => allowed || rules.push(rule),
      });
      open(10, 1);
      limits.fail(target.port);
      limits.fail(target.port);
      open(11);
      await client.errorOf(11);
      expect(rules).toEqual(['port-not-listed', 'connect-rate']);
      for (let id = 1; id <= STREAMS; id += 1) await echo(id);
      expect(client.count('error')).toBe(2);
    });

    it('ends no stream for a Connect that cannot be recorded', async () => {
      let isRecorded = true;
      const { client, open, echo } = await fullOf({ onConnect: () => isRecorded });
      isRecorded = false;
      open(10);
      expect(await client.errorOf(10)).toBe('connect not allowed: not-recorded');
      for (let id = 1; id <= STREAMS; id += 1) await echo(id);
      expect(client.count('error')).toBe(1);
    });

    it('refuses the stream of a client that reports ends, and ends none', async () => {
      const { client, open, echo } = await fullOf();
      client.send(client.encode.hello());
      open(10);
      expect(await client.errorOf(10)).toBe('connect not allowed: stream-limit');
      for (let id = 1; id <= STREAMS; id += 1) await echo(id);
    });
  });

  it('takes streams that sessions share: replaces its own when it gets no more, and resets what is taken back', async () => {
    const target = await startTcpServer((socket) => socket.pipe(socket));
    closers.push(() => target.close());
    const ends = new Set<() => void>();
    const idle: (() => boolean)[] = [];
    const takeStream = (end: () => void, isIdle: () => boolean) => {
      if (ends.size === 2) return undefined;
      ends.add(end);
      idle.push(isIdle);
      return () => void ends.delete(end);
    };
    const options = { allowedPorts: [target.port], takeStream, times: { tickMs: 20 } };
    const { client, server } = await serverOfOldClient(options);
    const open = (id: number) =>
      client.send(client.encode.connect(id, `tcp/localhost:${target.port}`));
    for (const id of [1, 2, 3]) open(id);
    expect(await client.errorOf(1)).toContain('replaced');
    client.sendData(2, 'works');
    await until(() => client.dataOf(2).toString() === 'works');
    // Stream 3 has the slot of stream 1, and now the longest silence.
    await until(() => idle.map((isIdle) => isIdle()).join() === 'true,false');
    const [first] = ends;
    first?.();
    expect(await client.errorOf(3)).toContain('more than its share');
    await until(() => server.streamCount === 1 && ends.size === 1);
    open(4);
    client.sendData(4, 'works');
    await until(() => client.dataOf(4).toString() === 'works');
    expect(ends.size).toBe(2);
  });

  it('is refused a stream when other sessions have all, and it has none', async () => {
    const { client } = await serverOfOldClient({ allowedPorts: [1], takeStream: () => undefined });
    client.send(client.encode.connect(1, 'tcp/localhost:1'));
    expect(await client.errorOf(1)).toBe('connect not allowed: stream-limit');
  });
});
