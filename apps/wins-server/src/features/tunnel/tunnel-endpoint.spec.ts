import { connectWebSocket, openTunnel, type ClientTunnel } from '@wins/tcp-tunnel';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer, type AddressInfo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { ClientScheduler } from '../../kernel/admission/client-scheduler.js';
import { daemonResources } from '../../kernel/admission/daemon-resources.js';
import { PROCESSOR } from '../../kernel/admission/resources.js';
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
      ...{ pipe, logger, events, resources, scheduler, security: undefined },
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
