import { Socket } from 'node:net';
import { createConnectLimits, type BeginDial } from './session/connect-limits.js';
import { serveTunnel, type ConnectRecord, type ServeTunnelOptions } from './serve-tunnel.js';
import { RawPeer } from './testing/raw-peer.js';
import { startTcpServer, until } from './testing/tcp-server.js';
import { startTransportServer } from './testing/tunnel-pair.js';

describe('a flood of Connects', () => {
  const closers: (() => Promise<unknown>)[] = [];
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });

  async function peerOf(options: ServeTunnelOptions): Promise<RawPeer> {
    const transport = await startTransportServer((socket, _request, localConnection) => {
      const session = serveTunnel(socket, { localConnection, ...options });
      closers.push(() => session.close());
    });
    closers.push(() => transport.close());
    return new RawPeer(await transport.dial());
  }
  async function echoPort(): Promise<number> {
    const echo = await startTcpServer((socket) => socket.pipe(socket));
    closers.push(() => echo.close());
    return echo.port;
  }

  it('that is refused is answered one by one, told up to the rate and counted from there', async () => {
    const told: ConnectRecord[] = [];
    let counted = 0;
    const limits = createConnectLimits({ burst: 5, perSecond: 1 }).of('a');
    const onConnect = (record: ConnectRecord, isTold: boolean): void => {
      if (isTold) told.push(record);
      else counted += 1;
    };
    const peer = await peerOf({ allowedPorts: [], limits, onConnect });
    for (let id = 1; id <= 100; id += 1) peer.send(peer.encode.connect(id, 'tcp/localhost:22'));
    await until(() => peer.count('error') === 100);
    expect(told.length + counted).toBe(100);
    expect(told.length).toBeGreaterThanOrEqual(5);
    expect(counted).toBeGreaterThan(50);
    expect(await peer.errorOf(100)).toBe('connect not allowed: port-allowed');
  });

  it('is answered before the pings that came behind it, also where answers are written together', async () => {
    const limits = createConnectLimits({ burst: 1000, perSecond: 20 }).of('a');
    const peer = await peerOf({ allowedPorts: [], limits });
    const answers: string[] = [];
    peer.onMessage = (message) => {
      if (message.type === 'error') answers.push(String(message.id));
    };
    peer.socket.on('pong', (data) => answers.push(`pong ${data.toString()}`));
    const wanted: string[] = [];
    for (let id = 1; id <= 30; id += 1) {
      peer.send(peer.encode.connect(id, 'tcp/localhost:22'));
      wanted.push(String(id));
      if (id % 3 !== 0) continue;
      peer.socket.ping(String(id));
      wanted.push(`pong ${id}`);
      if (id % 6 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await until(() => answers.length === wanted.length);
    expect(answers).toEqual(wanted);
  });

  it('leaves the event loop to others after a limited part of each turn', async () => {
    let inThisTurn = 0;
    let most = 0;
    let scheduled = false;
    const onConnect = (): void => {
      inThisTurn += 1;
      most = Math.max(most, inThisTurn);
      if (scheduled) return;
      scheduled = true;
      setImmediate(() => {
        inThisTurn = 0;
        scheduled = false;
      });
    };
    const port = await echoPort();
    const peer = await peerOf({ allowedPorts: [port], maxStreams: 10, onConnect });
    // Pause the socket, so that the server gets all Connects in one read.
    peer.socket.pause();
    for (let id = 1; id <= 200; id += 1)
      peer.send(peer.encode.connect(id, `tcp/localhost:${port}`));
    peer.socket.resume();
    await until(() => peer.count('error') === 190);
    expect(most).toBeLessThanOrEqual(64);
  });

  it('to a failing port is limited to the rate, and another port is served meanwhile', async () => {
    const port = await echoPort();
    const closed = await startTcpServer(() => undefined);
    await closed.close();
    let dialled = 0;
    const limits = createConnectLimits({ burst: 5, perSecond: 1 }).of('a');
    const onConnect = ({ allowed }: ConnectRecord): void => void (dialled += allowed ? 1 : 0);
    const peer = await peerOf({ allowedPorts: [port, closed.port], limits, onConnect });
    for (let id = 1; id <= 20; id += 1) {
      peer.send(peer.encode.connect(id, `tcp/localhost:${closed.port}`));
      await peer.errorOf(id);
    }
    expect(await peer.errorOf(20)).toBe('connect not allowed: connect-rate');
    expect(dialled).toBeLessThan(15);
    peer.send(peer.encode.connect(100, `tcp/localhost:${port}`));
    peer.sendData(100, 'alive');
    await until(() => peer.dataOf(100).toString() === 'alive');
  });

  it('that waits for a line longer than a dial may take fails as a dial that took too long', async () => {
    const left: number[] = [];
    // Never begins a dial.
    const beginDial = () => () => void left.push(1);
    const peer = await peerOf({ allowedPorts: [80], beginDial, times: { dialTimeoutMs: 50 } });
    for (let id = 1; id <= 3; id += 1) peer.send(peer.encode.connect(id, 'tcp/localhost:80'));
    const errors = await Promise.all([1, 2, 3].map((id) => peer.errorOf(id)));
    expect(errors).toHaveLength(3);
    expect(peer.count('error')).toBe(3);
    await until(() => left.length === 3);
  });

  it('leaves nothing behind when its session ends', async () => {
    const given: Socket[] = [];
    const dial = (): Socket => {
      const socket = new Socket();
      given.push(socket);
      return socket;
    };
    let waiting = 0;
    const beginDial = (begin: BeginDial): (() => void) => {
      if (given.length < 2) return begin(() => undefined);
      waiting += 1;
      return () => (waiting -= 1);
    };
    const peer = await peerOf({ allowedPorts: [80], dial, beginDial });
    for (let id = 1; id <= 50; id += 1) peer.send(peer.encode.connect(id, 'tcp/localhost:80'));
    await until(() => waiting === 48);
    peer.socket.terminate();
    await until(() => waiting === 0 && given.every((socket) => socket.destroyed));
    expect(given).toHaveLength(2);
  });
});
