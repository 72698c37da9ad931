import { connectWebSocket, openTunnel, type ClientTunnel } from '@wins/tcp-tunnel';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ClientScheduler } from '../../kernel/admission/client-scheduler.js';
import { daemonResources } from '../../kernel/admission/daemon-resources.js';
import { PROCESSOR } from '../../kernel/admission/resources.js';
import { Shares } from '../../kernel/admission/shares.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { openTunnelEndpoint, type TunnelEndpoint } from './tunnel-endpoint.js';

const BURST = 5;
const onUnix = process.platform === 'win32' ? describe.skip : describe;
if (process.platform === 'win32')
  process.stderr.write('SKIPPED: who may connect through a tunnel, which needs a Unix socket\n');

onUnix('the Connects of a tunnel', () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'wins-tunnel-'));
  const pipe = path.join(folder, 'tunnel');
  const { logger, events } = kernelOf();
  const resources = daemonResources(logger);
  const row = { ...PROCESSOR, requests: { burst: BURST, perSecond: 1 } };
  // The clock stands still, so that no rate recovers.
  const scheduler = new ClientScheduler({ row, now: () => 0 });
  const connected: string[] = [];
  let program: Server;
  let endpoint: TunnelEndpoint;
  const tunnels: ClientTunnel[] = [];

  beforeAll(async () => {
    program = createServer((socket) => socket.on('error', () => undefined).write('x'));
    await once(program.listen(0, '127.0.0.1'), 'listening');
    const clients = [CONTAINER, ADMINISTRATOR];
    endpoint = await openTunnelEndpoint({
      pipe,
      logger,
      events,
      resources,
      scheduler,
      security: undefined,
      allowedPorts: [(program.address() as AddressInfo).port],
      allowedUdpPorts: [],
      limits: { maxSessions: 4, maxStreams: 64, handshakeTimeoutMs: 5000 },
      identify: () => clients.shift() ?? CONTAINER,
      audit: {
        counted: () => undefined,
        decided: (_decision, client) => {
          connected.push(String(client));
          return Promise.resolve();
        },
      },
    });
  });
  afterAll(async () => {
    await Promise.all(tunnels.map((tunnel) => tunnel.close()));
    scheduler[Symbol.dispose]();
    await endpoint.close();
    program.close();
    resources[Symbol.dispose]();
    rmSync(folder, { recursive: true });
  });

  it('are requests of their client: those beyond its rate wait while another is served', async () => {
    const { port } = program.address() as AddressInfo;
    const open = async (): Promise<ClientTunnel> => {
      const tunnel = await connectWebSocket({ address: pipe }, (socket) => openTunnel(socket));
      tunnels.push(tunnel);
      return tunnel;
    };
    const [busy, other] = [await open(), await open()];
    for (let round = 0; round < 4 * BURST; round += 1) {
      busy.connect(port).on('error', () => undefined);
      const stream = other.connect(port).on('error', () => undefined);
      await once(stream, 'data');
    }
    const of = (key: string): number => connected.filter((each) => each === key).length;
    expect(of(ADMINISTRATOR.key)).toBe(4 * BURST);
    expect(of(CONTAINER.key)).toBeGreaterThanOrEqual(BURST);
    expect(of(CONTAINER.key)).toBeLessThanOrEqual(2 * BURST);
  });
});

onUnix('a container whose Go client has its whole share of streams', () => {
  const STREAMS = 4;
  const CONNECTS = 40;
  /** Encoded numbers of a Connect: type and deadline. */
  const CONNECT = [4, 0xb0, 0xea, 0x01];
  const ERROR = 6;

  it('gets each new stream in place of its one with the longest silence', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'wins-tunnel-'));
    const pipe = path.join(folder, 'tunnel');
    const { logger, events } = kernelOf();
    using resources = daemonResources(logger);
    using scheduler = new ClientScheduler({ row: PROCESSOR });
    const row = { ...resources.streams.row, total: 2 * STREAMS, reserve: 0, floor: 1 };
    const streams = new Shares(row);
    const opened = new Set<Socket>();
    const program = createServer((socket) => {
      opened.add(socket.on('error', () => undefined));
      socket.once('close', () => opened.delete(socket)).write('x');
    });
    await once(program.listen(0, '127.0.0.1'), 'listening');
    const { port } = program.address() as AddressInfo;
    const endpoint = await openTunnelEndpoint({
      pipe,
      logger,
      events,
      scheduler,
      security: undefined,
      resources: { ...resources, streams },
      allowedPorts: [port],
      allowedUdpPorts: [],
      limits: { maxSessions: 4, maxStreams: 1024, handshakeTimeoutMs: 5000 },
      identify: () => CONTAINER,
      audit: { counted: () => undefined, decided: () => Promise.resolve() },
    });
    const errors: number[] = [];
    await connectWebSocket({ address: pipe }, (webSocket) => {
      webSocket.on('message', (received) => {
        const message = received as Buffer;
        // The number of the message takes up to ten bytes.
        let at = 0;
        while ((message[at] ?? 0) > 127) at += 1;
        if (message[at + 2] === ERROR) errors.push((message[at + 1] ?? 0) / 2);
      });
      for (let id = 1; id <= CONNECTS; id += 1) {
        const message = [2, id * 2, ...CONNECT, ...Buffer.from(`tcp/localhost:${port}`)];
        webSocket.send(Buffer.from(message), { binary: true, compress: false }, () => undefined);
      }
    });
    while (opened.size !== STREAMS || errors.length < CONNECTS - STREAMS)
      await new Promise((resolve) => setImmediate(resolve));
    expect(errors).toEqual(Array.from({ length: CONNECTS - STREAMS }, (_, index) => index + 1));
    expect(streams.held).toBe(STREAMS);
    await endpoint.close();
    expect(streams.held).toBe(0);
    program.close();
    rmSync(folder, { recursive: true });
  });
});
