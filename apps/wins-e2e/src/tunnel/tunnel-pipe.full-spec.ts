import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { runWins, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { connected } from '../testing/tunnel/published-port.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { Workspace } from '../testing/workspace.js';

describe('the tunnel pipe', () => {
  let workspace: Workspace;
  let daemon: Daemon;
  beforeAll(async () => {
    workspace = new Workspace();
    daemon = await Daemon.start(workspace, workspace.config([]));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it('is served by one daemon alone: a second one ends with 69 and serves no pipe', async () => {
    const other = workspace.write('other', JSON.stringify({ listen: 'other_wins' }));
    const { code, stderr } = await Daemon.launch(workspace, other).outcome;
    expect(code).toBe(69);
    expect(stderr).toContain('rancher_wins_proxy');
    const info = ['cli', 'app', 'info', '--server', 'other_wins'];
    expect((await runWins(info, workspace.environment)).code).toBe(125);
  });

  it('can be as private as the other one', async () => {
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    const mode = (path: unknown) =>
      spawnSync('/usr/bin/stat', ['-c', '%a %u', String(path)], { encoding: 'utf8' }).stdout;
    expect(mode(ready['tunnelAddress'])).toMatch(/^600 /);
    expect(mode(ready['tunnelAddress'])).toBe(mode(ready['address']));
  });

  it('takes no more clients than the config says, and goes on', async () => {
    using workspace = new Workspace();
    const config = workspace.config([], { tunnel: { maxSessions: 2 } });
    await using daemon = await Daemon.start(workspace, config);
    const [a = 0, b = 0, c = 0] = await freePorts(3);
    await using first = await Tunnel.start(workspace, `TCP:${a}:1`);
    await using _second = await Tunnel.start(workspace, `TCP:${b}:1`);
    const third = startWins(['cli', 'proxy', '--publish', `TCP:${c}:1`], workspace.environment);
    expect((await third.outcome).code).toBe(125);
    await first.stop();
    await daemon.logged(({ msg }) => msg === 'tunnel ended');
    await using _fourth = await Tunnel.start(workspace, `TCP:${c}:1`, '--wait-timeout', '60s');
  });
});

const UPGRADE = [
  'GET /any/path HTTP/1.1',
  'Host: wins',
  'Connection: Upgrade',
  'Upgrade: websocket',
  'Sec-WebSocket-Version: 13',
  'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
];

type Handshake = [who: string, lines: string[], answer: RegExp];
const COMPLETE: readonly Handshake[] = [
  ['with its name', [...UPGRADE, 'rancher-wins-cli-proxy: me'], /^HTTP\/1\.1 101 /],
  ['without a name', UPGRADE, /^HTTP\/1\.1 401 /],
  ['with a blank name', [...UPGRADE, 'rancher-wins-cli-proxy:  '], /^HTTP\/1\.1 401 /],
  [
    'that asks for another version',
    [...UPGRADE, 'rancher-wins-cli-proxy: me'].map((line) => line.replace(/: 13$/, ': 7')),
    /^HTTP\/1\.1 400 /,
  ],
  ['that wants no WebSocket', ['GET / HTTP/1.1', 'Host: wins'], /^HTTP\/1\.1 426 /],
  ['that says much', [...UPGRADE, `x: ${'y'.repeat(9000)}`], /^HTTP\/1\.1 431 /],
  ['that speaks gRPC', ['PRI * HTTP/2.0', '', 'SM', '', ''], /^HTTP\/1\.1 400 /],
];
const UNFINISHED: readonly Handshake[] = [
  ['that never ends its request', UPGRADE.slice(0, 3).concat('x: '), /^$/],
  ['that says nothing', [], /^$/],
];

// Only unfinished requests get a short time limit, so that slow complete ones pass.
describe.each([
  [10_000, COMPLETE],
  [300, UNFINISHED],
])('the tunnel pipe, with %i ms for a handshake', (handshakeTimeoutMs, handshakes) => {
  let workspace: Workspace;
  let daemon: Daemon;
  beforeAll(async () => {
    workspace = new Workspace();
    const config = workspace.config([], { tunnel: { handshakeTimeoutMs } });
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it.each(handshakes)(
    'answers a client %s correctly, and no stranger keeps a connection',
    async (_who, lines, answer) => {
      const ready = await daemon.logged(({ msg }) => msg === 'ready');
      const socket = connect(String(ready['tunnelAddress']));
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
      socket.write(lines.join('\r\n') + (handshakes === COMPLETE ? '\r\n\r\n' : ''));
      if (received === '') await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      expect(received).toMatch(answer);
      if (/ 101 /.test(received)) socket.destroy();
      else if (!socket.closed) await once(socket, 'close');
    },
  );
});

describe('a client of the tunnel pipe', () => {
  it('has as many streams as the config says, also more than by default', async () => {
    using workspace = new Workspace();
    await using echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    const config = workspace.config([], {
      white_list: { proxyPorts: [echo.port] },
      tunnel: { maxStreams: 1100 },
    });
    await using _daemon = await Daemon.start(workspace, config);
    const [port = 0] = await freePorts(1);
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${echo.port}`);
    const answers: Promise<unknown>[] = [];
    const sockets: Socket[] = [];
    for (let count = 0; count < 1050; count += 1) {
      const socket = await connected(port);
      sockets.push(socket);
      answers.push(once(socket, 'data'));
      socket.write('here');
    }
    await Promise.all(answers);
    expect(tunnel.program.stderr()).not.toContain('refuse');
    for (const socket of sockets) socket.destroy();
  });

  it('has no more streams than the config says: one more is refused, alone, until another ends', async () => {
    using workspace = new Workspace();
    await using echo = await HostProgram.tcp((socket) => socket.pipe(socket));
    await using _daemon = await Daemon.start(
      workspace,
      workspace.config([], {
        white_list: { proxyPorts: [echo.port] },
        tunnel: { maxStreams: 2 },
      }),
    );
    const [port = 0] = await freePorts(1);
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${echo.port}`);
    const first = await connected(port);
    const second = await connected(port);
    for (const socket of [first, second]) {
      socket.write('here');
      await once(socket, 'data');
    }
    // The reset may arrive before the connect event does.
    const third = connected(port).then(textOf);
    await expect(third).rejects.toMatchObject({ code: 'ECONNRESET' });
    await tunnel.program.said(`the daemon refuses host port ${echo.port}: stream-limit`);
    second.end();
    expect(await textOf(second)).toBe('');
    // The daemon may still be closing its side.
    const enter = (): Promise<string> =>
      connected(port)
        .then((socket) => textOf(socket.end('there')))
        .catch(enter);
    expect(await enter()).toBe('there');
    const rest = textOf(first);
    first.end('still here');
    expect(await rest).toBe('still here');
  });
});
