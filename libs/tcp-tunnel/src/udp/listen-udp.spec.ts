import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { until } from '../testing/tcp-server.js';
import { openUdp, startUdpEcho, type UdpEcho } from '../testing/udp-echo.js';
import { dialUdp } from './dial-udp.js';
import { listenUdp, type UdpListener } from './listen-udp.js';
import { UdpTracker } from './udp-tracker.js';

describe('a UDP port that is relayed', () => {
  let echo: UdpEcho;
  let listener: UdpListener;
  const refused: unknown[] = [];
  const clients: Socket[] = [];
  const client = async () => {
    const opened = await openUdp();
    clients.push(opened.socket);
    return opened;
  };
  const relay = (port: number, tracker?: UdpTracker) =>
    listenUdp({
      host: '127.0.0.1',
      port: 0,
      ...(tracker && { tracker }),
      open: (events) => dialUdp({ host: '127.0.0.1', port }, events),
      onRefused: (error) => refused.push(error),
    });

  beforeEach(async () => {
    refused.length = 0;
    echo = await startUdpEcho();
    listener = await relay(echo.port);
  });
  afterEach(async () => {
    for (const socket of clients.splice(0)) socket.close();
    await listener.close();
    await echo.close();
  });

  it('gives each source its own answers, of any length up to the longest', async () => {
    const [one, other] = [await client(), await client()];
    for (const bytes of [0, 1, 512, 1472, 9_000, 65_507]) {
      const [a, b] = [Buffer.alloc(bytes, 'a'), Buffer.alloc(bytes, 'b')];
      const answers = [one.ask(listener.port, a), other.ask(listener.port, b)];
      expect((await Promise.all(answers)).map((answer) => answer.equals(a))).toEqual([
        true,
        bytes === 0,
      ]);
    }
    // Each source has one flow, with one socket towards the destination.
    expect(listener.flowCount).toBe(2);
    expect(echo.sources.size).toBe(2);
  });

  it('takes answers from the destination alone', async () => {
    const one = await client();
    await one.ask(listener.port, Buffer.from('x'));
    const [port] = [...echo.sources].map((source) => Number(source.split(' ')[1]));
    const stranger = await client();
    const sent = new Promise((resolve) =>
      stranger.socket.send('forged', port ?? 0, '127.0.0.1', resolve),
    );
    await sent;
    expect((await one.ask(listener.port, Buffer.from('y'))).toString()).toBe('y');
    expect(one.received.map(String)).toEqual(['x', 'y']);
  });

  it('ends flows by time, and opens them again', async () => {
    using tracker = new UdpTracker({ oneWayMs: 20, bothWaysMs: 40 });
    await using short = await relay(echo.port, tracker);
    const one = await client();
    for (let again = 0; again < 2; again += 1) {
      expect((await one.ask(short.port, Buffer.from('x'))).toString()).toBe('x');
      await until(() => short.flowCount === 0);
    }
    expect(echo.sources.size).toBe(2);
  });

  it('says that nothing listens at the destination, once while it is asked again and again', async () => {
    await echo.close();
    const one = await client();
    await until(() => {
      one.socket.send('x', listener.port, '127.0.0.1');
      return refused.length > 0 && listener.dropped > 10;
    });
    expect(refused).toHaveLength(1);
    expect(refused).toMatchObject([{ code: 'dialRefused', port: echo.port }]);
    expect(listener.flowCount).toBe(0);
    echo = await startUdpEcho();
  });

  it('has one owner: another one is told that the address is in use', async () => {
    const { port } = listener;
    const open = () => ({ send: () => undefined, close: () => undefined });
    await expect(listenUdp({ host: '127.0.0.1', port, open })).rejects.toMatchObject({
      name: 'TunnelError',
      code: 'addressInUse',
    });
  });

  it('is free once it is closed', async () => {
    const { port } = listener;
    await listener.close();
    const next = createSocket('udp4').bind(port, '127.0.0.1');
    await once(next, 'listening');
    next.close();
  });
});
