import { Server, ServerCredentials, type ServerUnaryCall } from '@grpc/grpc-js';
import { processServiceDefinition } from '@wins/wins-api/contract';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { constants, createServer as createHttp2Server } from 'node:http2';
import { createServer, type Server as LocalServer, type Socket } from 'node:net';
import { promisify } from 'node:util';
import { runWins, startProgram, startWins, type Outcome } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { until } from '../testing/process-table.js';
import { freePorts } from '../testing/tunnel/tunnel.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const hasTerminal = spawnSync('script', ['--version']).status === 0;
const onTerminal = wherePossible(it, hasTerminal, 'what a terminal shows: there is no script');

describe('a daemon that is frozen', () => {
  const workspace = new Workspace();
  const tool = workspace.script('tool', 'echo ran');
  let daemon: Daemon;
  beforeAll(async () => {
    const config = workspace.config([tool], {
      white_list: { processPaths: [tool], proxyPorts: [1] },
    });
    daemon = await Daemon.start(workspace, config);
    daemon.child.kill('SIGSTOP');
  });
  afterAll(async () => {
    daemon.child.kill('SIGCONT');
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const wins = (...args: string[]): Promise<Outcome> => runWins(args, workspace.environment);

  it.each([
    [['cli', 'prc', 'ls']],
    [['cli', 'app', 'info']],
    [['cli', 'prc', 'run', '--path', tool]],
    [['cli', 'hst', 'get-version']],
  ])('is given up after --timeout, with the next step: wins %j', async (args) => {
    const { code, stderr } = await wins(...args, '--timeout', '300ms');
    expect({ code, stderr }).toEqual({
      code: 125,
      stderr:
        'wins: the daemon on pipe "rancher_wins" gave no answer within 300ms although it accepted the connection; ' +
        'it may be frozen or busy. Wait longer with --timeout, or run "wins doctor" on the host to see why\n',
    });
  });

  it('is reported as frozen, not as missing, by commands of administrators', async () => {
    const { code, stdout, stderr } = await wins('srv', 'metrics');
    expect([code, String(stdout)]).toEqual([69, '']);
    expect(stderr).toMatch(
      /: it accepted the connection but did not answer: it is frozen or busy; run "wins doctor"\n$/,
    );
    expect(stderr).not.toContain('start it');
  });

  it('is given up by the tunnel too', async () => {
    const [port] = await freePorts(1);
    const { code, stderr } = await wins(
      'cli',
      'proxy',
      '--publish',
      `TCP:${port}`,
      '--timeout',
      '300ms',
    );
    expect(code).toBe(125);
    expect(stderr).toMatch(
      /^wins: no tunnel on pipe "rancher_wins_proxy": no answer within 300ms; [^\n]*wins doctor[^\n]*\n$/,
    );
  });

  onTerminal('is told on a terminal after 2 s, in one line that goes away', async () => {
    const command = `${process.execPath} ${WINS} cli prc ls --timeout 3s`;
    const args = ['--quiet', '--return', '--command', command, '/dev/null'];
    const { code, stdout } = await startProgram('script', args, workspace.environment).outcome;
    expect(code).toBe(125);
    const [shown = '', ...rest] = stdout.toString().split('\r\u001b[K').slice(1);
    expect(shown).toBe('wins: waiting for the daemon on pipe "rancher_wins" (2 s; Ctrl-C cancels)');
    expect(rest.at(-1)).toMatch(/^wins: the daemon on pipe .* gave no answer within 3s/);
  });

  onTerminal('is not all that is shown there: so is a delivery that waits', async () => {
    const [from, to] = [tool, workspace.path('delivered')];
    const command = `${process.execPath} ${WINS} cli deliver --from ${from} --to ${to} --settle 1200ms`;
    const args = ['--quiet', '--return', '--command', command, '/dev/null'];
    const { code, stdout } = await startProgram('script', args, workspace.environment).outcome;
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(
      /delivered: [^]*waiting for --settle \(1 s; Ctrl-C cancels\)/,
    );
  });

  it('--timeout is a duration above zero', async () => {
    const { code, stderr } = await wins('cli', 'prc', 'ls', '--timeout', '0');
    expect([code, stderr]).toEqual([
      64,
      expect.stringMatching(/^wins: --timeout: found "0"; wanted a duration from 1ms to 1d/),
    ]);
  });
});

describe('a daemon that is awaited', () => {
  onTerminal('is told there in a line that goes away before the name of the run', async () => {
    using workspace = new Workspace();
    const brief = workspace.script('brief', 'exit 0');
    const config = workspace.config([{ path: brief, detached: { allow: true } }]);
    const command = `${process.execPath} ${WINS} cli prc run -d --name web --wait-timeout 1m ${brief}`;
    const args = ['--quiet', '--return', '--command', command, '/dev/null'];
    const waiter = startProgram('script', args, workspace.environment);
    await waiter.printed('waiting for the daemon on pipe "rancher_wins"');
    await using _daemon = await Daemon.start(workspace, config);
    const { code, stdout } = await waiter.outcome;
    expect([code, stdout.toString().split('\r\u001b[K').at(-1)]).toEqual([0, 'web\r\n']);
  });
});

describe('a daemon that dies while a client waits for a run', () => {
  onTerminal('is told on a terminal until the next one serves', async () => {
    using workspace = new Workspace();
    const stop = workspace.path('stop');
    const brief = workspace.script('brief', `while [ ! -e ${stop} ]; do sleep 0.02; done; exit 7`);
    const config = workspace.config([{ path: brief, detached: { allow: true } }]);
    const first = await Daemon.start(workspace, config);
    const run = ['cli', 'prc', 'run', '-d', '--name', 'web', '--path', brief];
    expect((await runWins(run, workspace.environment)).code).toBe(0);
    const command = `${process.execPath} ${WINS} cli prc wait web`;
    const args = ['--quiet', '--return', '--command', command, '/dev/null'];
    const waiter = startProgram('script', args, workspace.environment);
    await first.logged(({ action }) => action === 'wait');
    await first.stop('SIGKILL');
    await waiter.printed('waiting for the daemon on pipe "rancher_wins"');
    await using _next = await Daemon.start(workspace, config);
    writeFileSync(stop, '');
    expect((await waiter.outcome).code).toBe(7);
  });
});

describe('a daemon that takes a call and never answers', () => {
  it('is given up after --timeout, and the start with it', async () => {
    using workspace = new Workspace();
    const [address, tool] = [workspace.path('mute'), workspace.script('tool', 'echo ran')];
    const server = new Server();
    const cancelled = new Promise((resolve) => {
      const start = (call: ServerUnaryCall<unknown, unknown>): unknown =>
        call.once('cancelled', resolve);
      server.addService({ start: processServiceDefinition.start }, { start });
    });
    await promisify(server.bindAsync.bind(server))(
      `unix:${address}`,
      ServerCredentials.createInsecure(),
    );
    try {
      const args = ['cli', 'prc', 'run', '--server', address, '--path', tool];
      const { code, stderr } = await runWins([...args, '--timeout', '1s'], workspace.environment);
      expect({ code, stderr }).toEqual({
        code: 125,
        stderr:
          `wins: the daemon on pipe "${address}" gave no answer within 1s to Start; it may be frozen or busy. ` +
          'Wait longer with --timeout, or run "wins doctor" on the host to see why\n',
      });
      await cancelled;
    } finally {
      server.forceShutdown();
    }
  });
});

describe('an unreachable daemon is described in words of wins', () => {
  const workspace = new Workspace();
  const http = workspace.path('http');
  const deaf = workspace.path('deaf');
  const sockets: Socket[] = [];
  let servers: LocalServer[];
  let daemon: Daemon;
  beforeAll(async () => {
    const answerHttp = createServer((socket) => {
      sockets.push(socket.on('error', () => undefined));
      socket.end('HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n');
    });
    const hangUp = createServer((socket) => void socket.destroy());
    servers = [answerHttp, hangUp];
    await once(answerHttp.listen(http), 'listening');
    await once(hangUp.listen(deaf), 'listening');
    daemon = await Daemon.start(workspace, workspace.config([]));
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    for (const socket of sockets) socket.destroy();
    for (const server of servers) server.close();
    workspace[Symbol.dispose]();
  });

  const RAW = /Resolution note|Parse Error|Protocol error|hang up|\bE[A-Z]{4,}\b(?<!\([A-Z]+)|HPE_/;
  const proxy = (...args: string[]) => ['cli', 'proxy', '--publish', 'TCP:PORT', ...args];

  const wins = async (args: readonly string[]): Promise<Outcome> => {
    const [port] = await freePorts(1);
    const words = args.map((word) => word.replace('PORT', String(port)));
    return runWins(words, workspace.environment);
  };

  it.each([
    ['the tunnel pipe', ['cli', 'prc', 'ls', '--server', 'rancher_wins_proxy'], 'does not answer'],
    ['HTTP/1', ['cli', 'prc', 'ls', '--server', http], 'does not speak HTTP/2'],
    ['who hangs up', ['cli', 'prc', 'ls', '--server', deaf], 'closed the connection'],
    ['no pipe', ['cli', 'prc', 'ls', '--server', '/nowhere/x'], 'there is no such file'],
    ['the main pipe', proxy('--proxy', 'rancher_wins'), '--proxy rancher_wins_proxy'],
    ['a web server', proxy('--proxy', http), 'HTTP status 404'],
    ['who hangs up on a tunnel', proxy('--proxy', deaf), 'closed the connection'],
    ['no tunnel pipe', proxy('--proxy', '/nowhere/x'), 'there is no such file'],
  ])('%s', async (_what, args, text) => {
    const { code, stderr } = await wins(args);
    expect(code).toBe(125);
    expect(stderr).toMatch(/^wins: [^\n]+\n$/);
    expect(stderr).toContain(text);
    expect(stderr).toMatch(/wins doctor/);
    expect(stderr).not.toMatch(RAW);
  });

  it.each([
    ['an address of another machine', proxy('--listen-address', '192.0.2.1'), 'no network adapter'],
    [
      'an audit log that is not there',
      ['srv', 'audit', 'show', '--directory', '/nope'],
      'there is no such file or folder; wanted',
    ],
    [
      'a folder that is not there',
      proxy('--ready-file', '/nope/x'),
      'there is no such file or folder',
    ],
    [
      'a folder in place of a file',
      proxy('--ready-file', '/tmp'),
      'wins: --ready-file /tmp cannot be made: it is a folder\n',
    ],
  ])('%s', async (_what, args, text) => {
    const { code, stderr } = await wins(args);
    expect(stderr).toMatch(/^wins: [^\n]+\n$/);
    expect(code).toBe(args[0] === 'srv' ? 64 : 125);
    expect(stderr).toContain(text);
    expect(stderr).not.toMatch(/ENOENT:|EADDRNOTAVAIL|cannot be made \(ENOENT\)/);
  });
});

it('a daemon that refuses a request while it ends is waited for like one that is not there', async () => {
  using workspace = new Workspace();
  const tool = workspace.script('tool', 'echo ran');
  const pipe = workspace.path('pipe');
  const args = ['cli', 'prc', 'run', '--server', pipe, '--path', tool];
  let requests = 0;
  const ending = createHttp2Server().listen(pipe);
  ending.on('stream', (stream) => {
    requests += 1;
    stream.on('error', () => undefined).close(constants.NGHTTP2_REFUSED_STREAM);
  });
  await once(ending, 'listening');
  const refused = await runWins(args, workspace.environment);
  expect([refused.code, refused.stderr]).toEqual([
    125,
    expect.stringMatching(
      /^wins: the daemon on pipe [^\n]* accepts no calls now: the daemon refused the request and did not process it; [^\n]*\n$/,
    ),
  ]);

  const before = requests;
  const patient = startWins([...args, '--wait-timeout', '60s'], workspace.environment);
  await until(() => requests > before);
  await new Promise((resolve) => ending.close(resolve));
  await using _daemon = await Daemon.start(workspace, workspace.config([tool], { listen: pipe }));
  expect(await patient.outcome).toMatchObject({ code: 0, stderr: '' });
  expect(patient.stdout()).toBe('ran\n');
});
