import {
  openTunnel,
  serveTunnel,
  webSocketServerOptions,
  type ClientTunnel,
} from '@wins/tcp-tunnel';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { TunnelKeeper } from './tunnel-keeper.js';

describe('a tunnel that is kept', () => {
  let server: Server;
  let carriers: WebSocket[];
  let keeper: TunnelKeeper;
  let attempts: number;
  let heldMs: number;
  let failing: Error | undefined;
  /** True when the daemon acts like the Go release: it lacks extensions, and ends the session at a request for port 7. */
  let legacy: boolean;
  let events: string[];
  const signal = new AbortController().signal;

  beforeEach(async () => {
    carriers = [];
    attempts = 0;
    heldMs = 60_000;
    legacy = false;
    failing = undefined;
    events = [];
    server = createServer();
    const webSockets = new WebSocketServer({ noServer: true, ...webSocketServerOptions() });
    server.on('upgrade', (request, socket, head) =>
      webSockets.handleUpgrade(request, socket, head, (webSocket) => {
        carriers.push(webSocket);
        if (!legacy) serveTunnel(webSocket, { allowedPorts: [] });
        else
          webSocket.on('message', (message: Buffer) => {
            if (message.includes('tcp/localhost:7')) webSocket.terminate();
          });
      }),
    );
    await once(server.listen(0, '127.0.0.1'), 'listening');
    const { port } = server.address() as AddressInfo;
    keeper = new TunnelKeeper({
      open: async (): Promise<ClientTunnel> => {
        attempts += 1;
        if (failing !== undefined) throw failing;
        const webSocket = new WebSocket(`ws://127.0.0.1:${port}`);
        await once(webSocket, 'open');
        const tunnel = openTunnel(webSocket);
        await tunnel.probe();
        return tunnel;
      },
      get heldMs() {
        return heldMs;
      },
      onUp: () => void events.push('up'),
      onLost: ({ reason }) => void events.push(reason),
      onRefused: (toPort) => void events.push(`refused ${toPort}`),
      onStream: (stream, toPort) => void stream.once('error', () => events.push(`error ${toPort}`)),
    });
  });
  afterEach(async () => {
    await keeper.close();
    for (const carrier of carriers) carrier.terminate();
    server.close();
    await once(server, 'close');
  });

  it('opens a stream at once while the tunnel is up, and tells its error', async () => {
    await keeper.start(0);
    const stream = await keeper.connect(7, { signal });
    await expect(once(stream, 'close')).rejects.toThrow('connect not allowed');
    expect(events).toEqual(['up', 'error 7']);
  });

  it('makes one attempt when it shall not wait, and says why it failed', async () => {
    failing = new Error('nobody there');
    await expect(keeper.start(0)).rejects.toThrow('nobody there');
    expect(attempts).toBe(1);
  });

  it('tries again for as long as it shall wait', async () => {
    failing = new Error('nobody there');
    const started = keeper.start(60_000);
    while (attempts < 3) await new Promise((resolve) => setTimeout(resolve, 5));
    failing = undefined;
    await started;
    expect(events).toEqual(['up']);
  });

  it('comes back after a loss, with a stream for who waited', async () => {
    await keeper.start(0);
    carriers[0]?.terminate();
    while (!events.includes('peer-closed')) await new Promise((resolve) => setImmediate(resolve));
    const stream = await keeper.connect(7, { signal });
    stream.on('error', () => undefined).destroy();
    expect(events.slice(0, 3)).toEqual(['up', 'peer-closed', 'up']);
  });

  it('says nothing of a tunnel that it drained, and opens no other', async () => {
    await keeper.start(0);
    await keeper.drain();
    expect(events).toEqual(['up']);
    expect(attempts).toBe(1);
  });

  it('tries each port of a daemon without our extensions in a session of its own', async () => {
    legacy = true;
    await keeper.start(0);
    const first = await keeper.connect(8, { signal });
    const second = await keeper.connect(8, { signal });
    expect(attempts).toBe(2);
    first.destroy();
    await once(carriers[1] as WebSocket, 'close');
    expect(second.destroyed).toBe(false);
    expect(keeper.connect(8, { signal })).not.toBeInstanceOf(Promise);
    expect(attempts).toBe(2);
  });

  it('does not ask a daemon again for a port at which it ended a session, until it is another one', async () => {
    legacy = true;
    await keeper.start(0);
    const shared = await keeper.connect(8, { signal });
    const refused = await keeper.connect(7, { signal });
    const waiting = keeper.connect(7, { signal });
    await expect(once(refused, 'close')).rejects.toThrow('the tunnel ended');
    await expect(waiting).rejects.toMatchObject({ code: 'connectRefused', port: 7 });
    expect(() => keeper.connect(7, { signal })).toThrow('does not allow host port 7');
    expect(attempts).toBe(3);
    expect(shared.destroyed).toBe(false);
    expect(events).toEqual(['up', 'error 7', 'refused 7']);
    shared.on('error', () => undefined);
    legacy = false;
    carriers[0]?.terminate();
    while (events.at(-1) !== 'up') await new Promise((resolve) => setImmediate(resolve));
    const asked = await keeper.connect(7, { signal });
    await expect(once(asked, 'close')).rejects.toThrow('connect not allowed');
  });

  it('gives up who waits for too long, and who has gone', async () => {
    heldMs = 20;
    const gone = new AbortController();
    const left = keeper.connect(7, gone);
    gone.abort(new Error('left'));
    await expect(left).rejects.toThrow('left');
    await expect(keeper.connect(7, { signal })).rejects.toThrow('there is no tunnel');
  });

  it('gives up everything when it is closed, while it tries or while it is up', async () => {
    failing = new Error('nobody there');
    const started = keeper.start(60_000);
    const waiting = keeper.connect(7, { signal });
    const both = Promise.allSettled([started, waiting]);
    await keeper.close();
    await keeper.close();
    expect((await both).map(({ status }) => status)).toEqual(['rejected', 'rejected']);
    expect(events).toEqual([]);
  });

  it('waits for the attempt that is under way when it is closed', async () => {
    const order: string[] = [];
    const started = keeper.start(0).catch(() => order.push('given up'));
    await once(server, 'upgrade');
    await keeper.close();
    order.push('closed');
    await started;
    expect(order).toEqual(['given up', 'closed']);
    expect(events).toEqual([]);
  });

  it.each(Array.from({ length: 12 }, (_, turns) => turns))(
    'leaves no tunnel when it is closed %i turns after one has opened',
    async (turns) => {
      const { port } = server.address() as AddressInfo;
      const webSocket = new WebSocket(`ws://127.0.0.1:${port}`);
      await once(webSocket, 'open');
      const tunnel = openTunnel(webSocket);
      const other = new TunnelKeeper({
        open: () => Promise.resolve(tunnel),
        heldMs,
        onUp: () => events.push('up'),
        onLost: () => events.push('lost'),
        onRefused: () => undefined,
        onStream: () => undefined,
      });
      const started = other.start(0).catch(() => undefined);
      for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
      const closing = other.close();
      const told = events.length;
      await closing;
      await started;
      expect(events).toHaveLength(told);
      expect(tunnel.state).toBe('closed');
    },
  );
});
