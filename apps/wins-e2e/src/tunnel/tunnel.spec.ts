import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { Agent, request, type IncomingMessage, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';
import { runWins, startProgram, startWins } from '../testing/built-program.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { readPattern } from '../testing/tunnel/pattern.js';
import { answerPattern, sendPattern } from '../testing/tunnel/pattern-tunnel.js';
import { until } from '../testing/process-table.js';
import { freePorts, HostProgram, textOf, Tunnel } from '../testing/tunnel/tunnel.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const KIB = 1024;
const MIB = 1024 * KIB;

async function ask(port: number, path: string, options: RequestOptions = {}, body?: string) {
  const sent = request({ host: '127.0.0.1', port, path, agent: false, ...options });
  sent.end(body);
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  sent.on('error', () => undefined); // the response reports the error too
  return answer;
}

async function connected(port: number): Promise<Socket> {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  await once(socket, 'connect');
  return socket;
}

describe('the tunnel', () => {
  let workspace: Workspace;
  let web: HostProgram;
  let daemon: Daemon;
  let tunnel: Tunnel;
  let port: number;

  const config = (proxyPorts: readonly number[], more: object = {}) =>
    workspace.config([], { white_list: { processPaths: [], proxyPorts }, ...more });

  beforeAll(async () => {
    workspace = new Workspace();
    web = await HostProgram.http(answerPattern);
    daemon = await Daemon.start(workspace, config([web.port]));
    [port = 0] = await freePorts(1);
    tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
  });
  afterAll(async () => {
    await tunnel[Symbol.asyncDispose]();
    await daemon[Symbol.asyncDispose]();
    await web[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  it.each([0, 1, 64 * KIB, 10 * MIB, 32 * MIB])(
    'carries an answer of %i bytes unchanged',
    async (sizeBytes) => {
      expect(await readPattern(await ask(port, `/${sizeBytes}`))).toBe(sizeBytes);
    },
  );

  it.each([0, 1, 64 * KIB, 32 * MIB])('carries a request of %i bytes unchanged', async (size) => {
    expect(await sendPattern(port, size)).toBe(String(size));
  });

  it('keeps a connection for many requests', async () => {
    const before = web.connections;
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let index = 0; index < 50; index += 1) {
      expect(await readPattern(await ask(port, `/${index}`, { agent }))).toBe(index);
    }
    agent.destroy();
    expect(web.connections).toBe(before + 1);
  });

  it('ends a connection of which the server says "Connection: close"', async () => {
    const socket = await connected(port);
    socket.write('GET /5 HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(await textOf(socket)).toMatch(/connection: close[^]*\r\n\r\n[^]{5}$/i);
    socket.end();
  });

  it('carries many streams side by side', async () => {
    const sizes = Array.from({ length: 60 }, (_, index) => index * 50 * KIB);
    const read = await Promise.all(
      sizes.map(async (sizeBytes) => readPattern(await ask(port, `/${sizeBytes}`))),
    );
    expect(read).toEqual(sizes);
  });

  it('writes an audit record for each connection', async () => {
    const skip = daemon.log.length;
    const isRecord = ({ log, action }: LogRecord): boolean =>
      log === 'audit' && action === 'connect';
    // Retry: only ten connections a second get a record, and the previous test may have used these up.
    while (!daemon.log.slice(skip).some(isRecord)) await textOf(await ask(port, '/1'));
    const record = await daemon.logged(isRecord, skip);
    expect(record).toMatchObject({
      level: 'info',
      msg: `allowed to connect to port ${web.port}`,
      action: 'connect',
      verdict: 'allowed',
      requester: 'tunnel:1',
      rule: 'port-allowed',
      port: web.port,
    });
  });
});

describe('wins cli proxy', () => {
  let workspace: Workspace;
  let web: HostProgram;
  beforeEach(async () => {
    workspace = new Workspace();
    web = await HostProgram.http((_incoming, response) => response.end('hello'));
  });
  afterEach(async () => {
    await web[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const config = (proxyPorts: readonly number[], more: object = {}) =>
    workspace.config([], { white_list: { processPaths: [], proxyPorts }, ...more });
  const proxy = (...args: string[]) => runWins(['cli', 'proxy', ...args], workspace.environment);

  it('reports in one line that there is no daemon, or waits for it', async () => {
    const [port = 0] = await freePorts(1);
    const publish = `TCP:${port}:${web.port}`;
    const impatient = await proxy('--publish', publish);
    expect(impatient.code).toBe(125);
    expect(impatient.stderr).toMatch(
      /^wins: [^\n]*rancher_wins_proxy[^\n]*--wait-timeout[^\n]*\n$/,
    );
    await using patient = Tunnel.launch(workspace, publish, '--wait-timeout', '60s');
    await using _daemon = await Daemon.start(workspace, config([web.port]));
    await patient.program.said('the tunnel is ready');
    expect(await textOf(await ask(port, '/'))).toBe('hello');
  });

  it('names the port that it cannot listen on, in one line', async () => {
    await using _daemon = await Daemon.start(workspace, config([web.port]));
    const [free = 0] = await freePorts(1);
    const taken = web.port;
    const { code, stderr } = await proxy('--publish', `TCP:${free} TCP:${taken}`);
    expect(code).toBe(125);
    expect(stderr).toMatch(
      new RegExp(`^wins: cannot publish port ${taken}: [^\\n]*TCP:other:${taken}[^\\n]*\\n$`),
    );
  });

  it('serves the allowed ports when another one is refused, and says once which', async () => {
    const other = await HostProgram.http((_incoming, response) => response.end('secret'));
    await using _other = other;
    await using daemon = await Daemon.start(workspace, config([web.port]));
    const [good = 0, bad = 0] = await freePorts(2);
    await using tunnel = await Tunnel.start(
      workspace,
      `TCP:${good}:${web.port} TCP:${bad}:${other.port}`,
    );
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await textOf(await ask(good, '/', { agent }));
    for (let index = 0; index < 3; index += 1) {
      await expect(ask(bad, '/')).rejects.toThrow();
      expect(await textOf(await ask(good, '/', { agent }))).toBe('hello');
    }
    agent.destroy();
    expect(web.connections).toBe(1);
    expect(other.connections).toBe(0);
    await tunnel.program.said('refuses host port');
    const refusals = tunnel.program.stderr().match(/^wins: .*refuses host port.*$/gm);
    expect(refusals).toEqual([expect.stringContaining(`${other.port}: add it to white_list`)]);
    await daemon.logged(({ verdict, port }) => verdict === 'refused' && port === other.port);
  });

  it('reaches a port that is added to the config while the tunnel is up, and no longer one that is removed', async () => {
    // Keep one port, because a reload refuses to drop the whole whitelist.
    const [port = 0, stays = 0] = await freePorts(2);
    await using daemon = await Daemon.start(workspace, config([stays]));
    await using _tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    await expect(ask(port, '/')).rejects.toThrow();
    config([stays, web.port]);
    await daemon.logged(({ msg }) => msg === 'config changed');
    expect(await textOf(await ask(port, '/'))).toBe('hello');
    const skip = daemon.log.length;
    config([stays]);
    await daemon.logged(({ msg }) => msg === 'config changed', skip);
    await expect(ask(port, '/')).rejects.toThrow();
  });

  it('keeps its ready file exactly while the tunnel is up', async () => {
    const file = workspace.write('ready', 'left over');
    const [port = 0] = await freePorts(1);
    const publish = `TCP:${port}:${web.port}`;
    await using tunnel = Tunnel.launch(
      workspace,
      ...([publish, '--wait-timeout', '60s', '--ready-file', file] as const),
    );
    await until(() => !existsSync(file));
    const first = await Daemon.start(workspace, config([web.port]));
    await until(() => existsSync(file));
    await first.stop();
    await tunnel.program.said('the tunnel is lost');
    expect(existsSync(file)).toBe(false);
    await using _second = await Daemon.start(workspace, config([web.port]));
    await until(() => existsSync(file));
    await tunnel.stop();
    expect(existsSync(file)).toBe(false);
  });

  it('lets a connection wait for the daemon to come back, and says what happens', async () => {
    const [port = 0] = await freePorts(1);
    const first = await Daemon.start(workspace, config([web.port]));
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${web.port}`);
    await first.stop('SIGKILL');
    await tunnel.program.said('the tunnel is lost');
    const early = ask(port, '/');
    await using _second = await Daemon.start(workspace, config([web.port]));
    expect(await textOf(await early)).toBe('hello');
    const { code, stderr } = await tunnel.stop();
    expect(code).toBe(0);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^wins: the tunnel is ready: port \d+ forwards to host port \d+$/),
      expect.stringMatching(/^wins: the tunnel is lost: .*\(is the daemon running\?\)$/),
      'wins: the tunnel is back',
      '',
    ]);
  });

  it('lets open connections end before it ends, with 0', async () => {
    let finish: () => void = () => undefined;
    await using slow = await HostProgram.http((_incoming, response) => {
      response.write('first');
      finish = () => response.end('last');
    });
    await using _daemon = await Daemon.start(workspace, config([slow.port]));
    const [port = 0] = await freePorts(1);
    await using tunnel = await Tunnel.start(workspace, `TCP:${port}:${slow.port}`);
    const answer = await ask(port, '/');
    tunnel.program.child.kill('SIGTERM');
    await until(() => !accepts(port));
    finish();
    expect(await textOf(answer)).toBe('firstlast');
    expect((await tunnel.program.outcome).code).toBe(0);
  });

  it('takes one literal address to listen on', async () => {
    await using _daemon = await Daemon.start(workspace, config([web.port]));
    const [port = 0] = await freePorts(1);
    await using _tunnel = await Tunnel.start(
      workspace,
      ...([`TCP:${port}:${web.port}`, '--listen-address', '127.0.0.2'] as const),
    );
    expect(await textOf(await ask(port, '/', { host: '127.0.0.2' }))).toBe('hello');
    await expect(ask(port, '/', { host: '127.0.0.1' })).rejects.toThrow('ECONNREFUSED');
  });

  /** Reports whether a loopback port has a listener. Reads the kernel's table, because a probe would connect. */
  function accepts(port: number): boolean {
    const hex = port.toString(16).toUpperCase().padStart(4, '0');
    return ['tcp', 'tcp6'].some((table) =>
      new RegExp(`^ *\\d+: [0-9A-F]+:${hex} [0-9A-F:]+ 0A `, 'm').test(
        readFileSync(`/proc/net/${table}`, 'latin1'),
      ),
    );
  }
});

describe('the tunnel pipe', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());

  it('is served by one daemon alone: a second one ends with 69 and serves no pipe', async () => {
    await using _first = await Daemon.start(workspace, workspace.config([]));
    const other = workspace.write('other', JSON.stringify({ listen: 'other_wins' }));
    const { code, stderr } = await Daemon.launch(workspace, other).outcome;
    expect(code).toBe(69);
    expect(stderr).toContain('rancher_wins_proxy');
    const info = ['cli', 'app', 'info', '--server', 'other_wins'];
    expect((await runWins(info, workspace.environment)).code).toBe(125);
  });

  it('can be as private as the other one', async () => {
    await using daemon = await Daemon.start(workspace, workspace.config([]));
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    const mode = (path: unknown) =>
      spawnSync('/usr/bin/stat', ['-c', '%a %u', String(path)], { encoding: 'utf8' }).stdout;
    expect(mode(ready['tunnelAddress'])).toMatch(/^600 /);
    expect(mode(ready['tunnelAddress'])).toBe(mode(ready['address']));
  });

  const UPGRADE = [
    'GET /any/path HTTP/1.1',
    'Host: wins',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
  ];
  it.each<[string, string[], RegExp]>([
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
    ['that never ends its request', UPGRADE.slice(0, 3).concat('x: '), /^$/],
    ['that says nothing', [], /^$/],
  ])(
    'answers a client %s correctly, and no stranger keeps a connection',
    async (_who, lines, answer) => {
      const complete = !answer.test('');
      // Only unfinished requests get a short deadline, so that slow complete ones pass.
      const handshakeTimeoutMs = complete ? 10_000 : 300;
      await using daemon = await Daemon.start(
        workspace,
        workspace.config([], { tunnel: { handshakeTimeoutMs } }),
      );
      const ready = await daemon.logged(({ msg }) => msg === 'ready');
      const socket = connect(String(ready['tunnelAddress']));
      let received = '';
      socket.on('data', (chunk: Buffer) => (received += chunk.toString('latin1')));
      socket.write(lines.join('\r\n') + (complete ? '\r\n\r\n' : ''));
      if (received === '') await Promise.race([once(socket, 'data'), once(socket, 'close')]);
      expect(received).toMatch(answer);
      if (/ 101 /.test(received)) socket.destroy();
      else if (!socket.closed) await once(socket, 'close');
    },
  );

  it('takes no more clients than the config says, and goes on', async () => {
    await using daemon = await Daemon.start(
      workspace,
      workspace.config([], { tunnel: { maxSessions: 2 } }),
    );
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

const UNSHARE = '/usr/bin/unshare';
const itWithOwnName = wherePossible(
  it,
  spawnSync(UNSHARE, ['--uts', '/bin/true'], { stdio: 'ignore' }).status === 0,
  'a host with another name, which this user may not give it',
);

describe('a client on a host whose name is not ASCII', () => {
  itWithOwnName('is served, on both pipes', async () => {
    using workspace = new Workspace();
    const script = 'printf %s пк-1 >/proc/sys/kernel/hostname && exec "$@"';
    const named = (...args: string[]) =>
      startProgram(UNSHARE, ['--uts', '/bin/sh', '-c', script, 'sh', ...args], {
        ...workspace.environment,
      });
    const wins = (...args: string[]) => named(process.execPath, WINS, ...args);
    await using web = await HostProgram.tcp((socket) => socket.end('there'));
    const config = workspace.config([], { white_list: { proxyPorts: [web.port] } });
    await using daemon = await Daemon.start(workspace, config);
    expect(await wins('cli', 'app', 'info').outcome).toMatchObject({ code: 0, stderr: '' });
    const [port = 0] = await freePorts(1);
    const tunnel = wins('cli', 'proxy', '--publish', `TCP:${port}:${web.port}`);
    await tunnel.said('the tunnel is ready');
    const socket = await connected(port);
    expect(await textOf(socket.end())).toBe('there');
    tunnel.child.kill();
    expect((await tunnel.outcome).code).toBe(0);
    await daemon.logged((record) => JSON.stringify(record).includes('??-1'));
  });
});

function mayNameNetworks(): boolean {
  const action = (verb: string): boolean => {
    const args = ['netns', verb, `wins-${process.pid}-probe`];
    return spawnSync('/sbin/ip', args, { stdio: 'ignore' }).status === 0;
  };
  return action('add') && action('delete');
}

const itWithNetworks = wherePossible(
  it,
  mayNameNetworks(),
  'container and host as two networks, which this user may not make',
);

describe('container and host as two network namespaces', () => {
  itWithNetworks('have the host port in the container, and only through the tunnel', async () => {
    const names = ['host', 'container'].map((name) => `wins-${process.pid}-${name}`);
    const ip = (...args: string[]) => spawnSync('/sbin/ip', args, { encoding: 'utf8' });
    using workspace = new Workspace();
    try {
      for (const name of names) {
        const made = ip('netns', 'add', name);
        if (made.status !== 0) throw new Error(made.stderr);
        ip('-n', name, 'link', 'set', 'lo', 'up');
      }
      const [host = '', container = ''] = names;
      const inside = (name: string, ...args: string[]) =>
        startProgram(
          '/sbin/ip',
          ['netns', 'exec', name, process.execPath, ...args],
          workspace.environment,
        );
      const server = `require('node:http').createServer((_, response) => response.end('from the host'))
        .listen(9796, '127.0.0.1', () => console.log('up'))`;
      const client = `fetch('http://127.0.0.1:9796/', { headers: { connection: 'close' } })
        .then((answer) => answer.text()).then(console.log, () => console.log('unreachable'))`;
      const web = inside(host, '-e', server);
      await web.printed('up');
      expect((await inside(container, '-e', client).outcome).stdout.toString()).toBe(
        'unreachable\n',
      );
      const config = workspace.config([], { white_list: { proxyPorts: [9796] } });
      const daemon = inside(host, WINS, 'srv', 'app', 'run', '--config', config);
      await daemon.said('"msg":"ready"');
      const tunnel = inside(container, WINS, 'cli', 'proxy', '--publish', 'TCP:9796');
      await tunnel.said('the tunnel is ready');
      expect((await inside(container, '-e', client).outcome).stdout.toString()).toBe(
        'from the host\n',
      );
      for (const program of [tunnel, daemon, web]) {
        program.child.kill('SIGTERM');
        await program.outcome;
      }
    } finally {
      for (const name of names) ip('netns', 'del', name);
    }
  });
});
