import {
  Client,
  credentials,
  status,
  type ClientReadableStream,
  type ServiceError,
} from '@grpc/grpc-js';
import { createWinsClient, type WinsClient } from '@wins/wins-api';
import { HealthCheckResponse, HealthStatus } from '@wins/wins-api/contract';
import { once } from 'node:events';
import { connect as connectHttp2, createServer as createHttp2Server } from 'node:http2';
import { connect } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { runWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeNetwork, startWinsInNetwork } from '../testing/network-namespace.js';
import { peakBytes, residentBytes } from '../testing/process-memory.js';
import { wherePossible } from '../testing/where-possible.js';
import { Workspace } from '../testing/workspace.js';

const MEGABYTE = 1024 * 1024;
/** Characters that control a terminal, and invalid UTF-8. */
const STEERING = /[^\P{C}\n]|[\p{Zl}\p{Zp}\ufffd]/u;
const REFLECTION = '/grpc.reflection.v1.ServerReflection/ServerReflectionInfo';
/** One character for each byte, because Node writes header values in Latin-1. */
const EVIL = '\u009b31m\u00ff\u009d0;owned\u009c';

const raw = (bytes: Buffer): Buffer => bytes;

function field(number: number, text: string): Buffer {
  const head = [(number << 3) | 2];
  let rest = Buffer.byteLength(text);
  for (; rest > 127; rest >>>= 7) head.push((rest & 127) | 128);
  return Buffer.concat([Buffer.from([...head, rest]), Buffer.from(text)]);
}

function grpcClient(address: string): Client {
  return new Client(`unix:${address}`, credentials.createInsecure(), {
    'grpc.use_local_subchannel_pool': 1,
  });
}

describe('a hostile client of the pipes', () => {
  const workspace = new Workspace();
  let daemon: Daemon;
  let address: string;
  let tunnelAddress: string;

  beforeAll(async () => {
    daemon = await Daemon.start(workspace, workspace.config([], { debug: true }));
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    address = String(ready['address']);
    tunnelAddress = String(ready['tunnelAddress']);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('does not learn which services exist, unless the config allows it (A44)', async () => {
    const client = grpcClient(address);
    const call = client.makeBidiStreamRequest(REFLECTION, raw, raw);
    call.write(field(7, '*'));
    const [error] = (await once(call, 'error')) as [ServiceError];
    expect(error.code).toBe(status.UNIMPLEMENTED);
    client.close();
  });

  it('leaves no names in memory after it has watched and abandoned them (A46)', async () => {
    const client = grpcClient(address);
    const watch = (name: string): ClientReadableStream<Buffer> =>
      client
        .makeServerStreamRequest('/grpc.health.v1.Health/Watch', raw, raw, field(1, name))
        .on('error', () => undefined);
    const told = async (call: ClientReadableStream<Buffer>): Promise<HealthStatus> => {
      const [answer] = (await once(call, 'data')) as [Buffer];
      return HealthCheckResponse.decode(answer).status;
    };
    const watchOne = async (index: number): Promise<void> => {
      const call = watch(`${index}${'x'.repeat(MEGABYTE - 64)}`);
      expect(await told(call)).toBe(HealthStatus.SERVICE_UNKNOWN);
      call.cancel();
    };
    for (let index = 0; index < 16; index += 1) await watchOne(index);
    const before = residentBytes(daemon.child.pid);
    for (let index = 16; index < 400; index += 1) await watchOne(index);
    expect(peakBytes(daemon.child.pid) - before).toBeLessThan(64 * MEGABYTE);
    // Cancelled watches do not count, so this client can still watch.
    expect(await told(watch(''))).toBe(HealthStatus.SERVING);
    client.close();
  });

  it('cannot make gRPC write its bytes into the log, or flood the log (A52)', async () => {
    const evil = async (): Promise<void> => {
      const session = connectHttp2('http://localhost', {
        createConnection: () => connect(address),
      }).on('error', () => undefined);
      for (let count = 0; count < 100 && !session.destroyed && !session.closed; count += 1) {
        const stream = session
          .request({
            ':method': 'POST',
            ':path': '/wins.ApplicationService/Info',
            'content-type': 'application/grpc',
            te: 'trailers',
            'x-evil': EVIL + 'x'.repeat(8000),
            'wins-client': EVIL,
          })
          .on('error', () => undefined);
        stream.end(Buffer.alloc(5)).resume();
        await new Promise((resolve) => stream.once('close', resolve));
      }
      session.destroy();
    };
    for (let round = 0; round < 2; round += 1) await Promise.all(Array.from({ length: 5 }, evil));
    // The log is in order, so it is complete once it shows this call.
    const client = createWinsClient({ address, clientName: 'afterwards' });
    await client.host.routes();
    await client.close();
    await daemon.logged(({ clientSays }) => clientSays === 'afterwards');
    // Two log lines of 8 KiB for each of the 1,000 calls would far exceed the limit.
    expect(daemon.text).not.toMatch(STEERING);
    expect(daemon.text.length).toBeLessThan(MEGABYTE);
  });

  it('does not become the requester by the name that it claims (A60)', async () => {
    const name = 'system:node-admin (trusted)';
    const client = createWinsClient({ address, clientName: name });
    await client.host.routes();
    await client.close();
    const record = await daemon.logged(({ clientSays }) => clientSays === name);
    expect(record).toMatchObject({
      action: 'listRoutes',
      requester: expect.stringMatching(/^pipe:\d+$/) as string,
    });

    const socket = connect(tunnelAddress);
    const head = `GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\nrancher-wins-cli-proxy: ${EVIL}${'x'.repeat(4000)}\r\n\r\n`;
    socket.write(head, 'latin1');
    const opened = await daemon.logged(({ msg }) => msg === 'tunnel opened');
    socket.destroy();
    expect(opened).toMatchObject({ requester: expect.stringMatching(/^tunnel:\d+$/) as string });
    expect(opened['clientSays']).toMatch(/^\\u009b31m/);
    expect(String(opened['clientSays']).length).toBeLessThanOrEqual(128);
    expect(daemon.text).not.toMatch(STEERING);
  });
});

/** Without its own network, a failing test would change the routes of the machine. */
const inOwnNetwork = wherePossible(
  describe,
  mayMakeNetwork(),
  'attacks on routes, since only root may make a network for them',
);

inOwnNetwork('a client that leads the traffic of the host elsewhere (A56)', () => {
  const workspace = new Workspace();
  const config = (routes: object) => workspace.config([], routes);
  let daemon: Daemon;
  let client: WinsClient;
  beforeAll(async () => {
    const args = ['srv', 'app', 'run', '--config', config({})];
    daemon = Daemon.of(startWinsInNetwork(args, workspace.environment));
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    client = createWinsClient({ address: String(address) });
  });
  afterAll(async () => {
    await client.close();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  /** Excludes IPv6, because the kernel adds IPv6 routes once a link is up. */
  const table = async (): Promise<string[]> =>
    (await client.host.routes())
      .map(({ destinationCidr }) => destinationCidr)
      .filter((destination) => !destination.includes(':'));

  async function refused(addresses: readonly string[], reason: string, words: RegExp) {
    const before = await table();
    for (const change of [client.host.addRoutes(addresses), client.host.removeRoutes(addresses)])
      await expect(change).rejects.toMatchObject({
        reason,
        details: expect.stringMatching(words) as string,
      });
    expect(await table()).toEqual(before);
  }

  it('is refused while the config grants nothing, and learns which key would', async () => {
    await refused(['10.42.0.0/17', '10.42.128.0/17'], 'routeNotGranted', /routes\.allow/);
    await refused(['198.51.100.1'], 'routeNotGranted', /routes\.allow/);
  });

  it('gets what a new config grants, without a restart, and no more than that', async () => {
    config({ routes: { allow: ['198.51.100.0/25', '192.0.2.0/24'] } });
    await daemon.logged(({ msg }) => msg === 'config changed');
    await refused(['198.51.100.0/24'], 'routeNotGranted', /routes\.allow/);
    await refused(['198.51.100.1', '203.0.113.1'], 'routeNotGranted', /203\.0\.113\.1/);
    await refused(['192.0.2.1'], 'routeNotGranted', /the host itself is in/);
    await refused(['169.254.169.254'], 'routeNotGranted', /wanted this address itself/);
    await refused(['169.254.169.0/24'], 'invalidArgument', /routed one by one/);
    await refused(['0.0.0.0/1', '128.0.0.0/1'], 'invalidArgument', /cannot be routed/);
    await client.host.addRoutes(['198.51.100.1']);
    expect(await table()).toContain('198.51.100.1/32');
  });
});

describe('a client that asks reflection and never reads (A44)', () => {
  it('waits or is disconnected, while the daemon stays small and serves others', async () => {
    using workspace = new Workspace();
    await using daemon = await Daemon.start(workspace, workspace.config([], { reflection: true }));
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    const other = createWinsClient({ address: String(address) });
    // Errors are expected: the daemon disconnects a client that keeps sending without reading answers.
    const session = connectHttp2('http://localhost', {
      createConnection: () => connect(String(address)),
    }).on('error', () => undefined);
    const open = () =>
      session
        .request({
          ':method': 'POST',
          ':path': REFLECTION,
          'content-type': 'application/grpc',
          te: 'trailers',
        })
        .on('error', () => undefined);
    const body = field(4, 'wins.ProcessService');
    const message = Buffer.concat([Buffer.from([0, 0, 0, 0, body.length]), body]);
    // The first call makes the daemon load the reflection library.
    const first = open();
    first.end(message).resume();
    await once(first, 'close');
    await other.info();
    const before = residentBytes(daemon.child.pid);

    const stream = open().pause();
    // Without back pressure the client would send a million requests.
    const thousand = Buffer.concat(Array.from({ length: 1000 }, () => message));
    let taken = 0;
    const ask = (): void => {
      stream.write(thousand, () => {
        taken += 1;
        if (taken < 1000 && !stream.destroyed) ask();
      });
    };
    ask();
    await new Promise((resolve) => {
      stream.once('response', resolve);
      stream.once('close', resolve);
    });
    for (let index = 0; index < 150; index += 1) await other.info();
    // The client can send only what fits into the HTTP/2 windows.
    expect(taken).toBeLessThan(50);
    expect(peakBytes(daemon.child.pid) - before).toBeLessThan(64 * MEGABYTE);
    session.destroy();
    await other.close();
  });
});

describe('a daemon that compresses its answers', () => {
  it.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
  ] as const)('is understood: %s', async (coding, compress) => {
    using workspace = new Workspace();
    const address = workspace.path('compressing');
    const server = createHttp2Server();
    server.on('stream', (stream) => {
      const head = {
        ':status': 200,
        'content-type': 'application/grpc',
        'grpc-encoding': coding,
      };
      stream.respond(head, { waitForTrailers: true });
      stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
      const body = compress(field(1, String(field(2, 'v9.9.9'))));
      stream.end(Buffer.concat([Buffer.of(1, 0, 0, 0, body.length), body]));
    });
    server.listen(address);
    await once(server, 'listening');
    const ask = ['cli', 'app', 'info', '--server', address, '-o', 'json'];
    const { code, stdout, stderr } = await runWins(ask, workspace.environment);
    server.close();
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(String(stdout)).toContain('v9.9.9');
  });
});

describe('a hostile daemon', () => {
  it('cannot control a terminal by text that the client prints (A52)', async () => {
    using workspace = new Workspace();
    const address = workspace.path('evil');
    const server = createHttp2Server();
    server.on('stream', (stream) => {
      stream.respond(
        {
          ':status': 200,
          'content-type': 'application/grpc',
          'x-evil': EVIL,
          'grpc-status': '2',
          'grpc-message': '%1B[2J%C2%9B31m%E2%80%AEowned%0A',
          'wins-error': 'x',
        },
        { endStream: true },
      );
    });
    server.listen(address);
    await once(server, 'listening');
    const program = workspace.script('program', 'true');
    const ask = (...words: string[]) =>
      runWins(['cli', ...words, '--server', address], workspace.environment);
    const [info, run] = await Promise.all([
      ask('app', 'info'),
      ask('prc', 'run', '--path', program),
    ]);
    server.close();
    for (const { code, stderr } of [info, run]) {
      expect(code).toBe(125);
      expect(stderr).toContain('\\u001b[2J\\u009b31m\\u202eowned');
      expect(stderr).not.toMatch(STEERING);
    }
    expect(run.stderr).toContain('wins: gRPC: Failed to add metadata entry x-evil: \\u009b31m');
  });

  it.each([[[]], [['-o', 'json']]])(
    'cannot control a terminal by its metrics: srv metrics %j (A92)',
    async (more) => {
      using workspace = new Workspace();
      const address = workspace.path('evil');
      const server = createHttp2Server();
      server.on('stream', (stream) => {
        const text = field(1, `# HELP wins_\u001b[2J\u009b31m\u202eowned\rx\nwins_runs 1\n`);
        stream.respond(
          { ':status': 200, 'content-type': 'application/grpc' },
          { waitForTrailers: true },
        );
        stream.once('wantTrailers', () => stream.sendTrailers({ 'grpc-status': '0' }));
        stream.end(Buffer.concat([Buffer.of(0, 0, 0, 0, text.length), text]));
      });
      server.listen(address);
      await once(server, 'listening');
      const config = workspace.write('config', JSON.stringify({ listen: address }));
      const { code, stdout, stderr } = await runWins(
        ['srv', 'metrics', '--config', config, ...more],
        workspace.environment,
      );
      server.close();
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      const shown = stdout.toString();
      expect(shown).toContain('\\u001b[2J\\u009b31m\\u202eowned');
      expect(shown).not.toMatch(STEERING);
    },
  );
});
