import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync } from 'node:fs';
import { connect } from 'node:net';
import { runWins, startProgram } from '../testing/built-program.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { freePorts, HostProgram, Tunnel } from '../testing/tunnel/tunnel.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/;
const SECRET = 's3cret-value';

describe('the logs that an operator reads', () => {
  const workspace = new Workspace();
  let host: HostProgram;
  let daemon: Daemon;
  let tool: string;
  beforeAll(async () => {
    host = await HostProgram.tcp((socket) => socket.end('served'));
    tool = workspace.script('tool', 'echo done');
    const whiteList = { processPaths: [{ path: tool, envs: ['TOKEN'] }], proxyPorts: [host.port] };
    const config = workspace.config([], { white_list: whiteList });
    daemon = await Daemon.start(workspace, config, '--debug');
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    await host[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const wins = (...args: string[]) => runWins(args, workspace.environment);
  const linesOf = (text: string): LogRecord[] =>
    text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as LogRecord);

  it('--debug of the daemon follows a run from its connection to its answer, and tells no secret', async () => {
    const skip = daemon.log.length;
    const words = ['--path', tool, '--envs', `TOKEN=${SECRET}`, '--', SECRET];
    expect((await wins('cli', 'prc', 'run', ...words)).code).toBe(0);
    const closed = await daemon.logged(({ msg }) => msg === 'connection closed', skip);
    const records = daemon.log.slice(skip);
    const ofRequest = records.filter(
      ({ peer, requester }) => peer === closed['peer'] || requester === closed['peer'],
    );
    const steps = ofRequest.map(({ msg, method = '' }) => `${msg} ${String(method)}`.trim());
    expect(steps).toEqual(
      expect.arrayContaining([
        'connection accepted',
        'connection greeted',
        'call begins /wins.ProcessService/Start',
        `allowed to start "${tool}"`,
        'call answered /wins.ProcessService/Start',
        'call answered /wins.ProcessService/Wait',
      ]),
    );
    expect(steps.at(0)).toBe('connection accepted');
    expect(steps.at(-1)).toBe('connection closed');
    expect(ofRequest[0]).toMatchObject({ client: { uid: process.getuid?.() } });
    const answered = ofRequest.find(({ msg }) => msg === 'call answered');
    expect(answered).toMatchObject({
      call: 1,
      status: 'OK',
      ms: expect.any(Number) as number,
      requestBytes: expect.any(Number) as number,
    });
    expect(daemon.text).not.toContain(SECRET);
  });

  it('--debug of the client says when it connected, called and was answered, on standard error', async () => {
    const { code, stdout, stderr } = await wins('cli', 'prc', 'ls', '--debug');
    expect([code, JSON.parse(stdout.toString())]).toEqual([0, []]);
    const lines = stderr
      .replace(/(?<=^wins: )\S+Z(?= )/gm, (text) => (TIME.test(text) ? 'TIME' : text))
      .replace(/ms=[\d.]+/g, 'ms')
      .split('\n');
    expect(lines).toEqual([
      `wins: TIME connecting address=${workspace.runtimeDirectory}/rancher_wins`,
      'wins: TIME call List call=1',
      'wins: TIME connected ms',
      'wins: TIME answer to List call=1 ms',
      '',
    ]);
  });

  it('a refusal is a warning that says what was refused and why, and is named as an audit record', async () => {
    const skip = daemon.log.length;
    expect((await wins('cli', 'prc', 'run', '--path', '/bin/sh')).code).toBe(126);
    const refused = await daemon.logged(({ verdict }) => verdict === 'refused', skip);
    expect(refused).toMatchObject({
      level: 'warn',
      log: 'audit',
      action: 'start',
      code: 'pathNotAllowed',
      msg: 'refused to start "/bin/sh": not listed',
    });
  });

  describe('of a tunnel', () => {
    it('are JSON with their time where that is asked for, with ports and codes as fields', async () => {
      const [port = 0, other = 0] = await freePorts(2);
      const ports = `TCP:${port}:${host.port} TCP:${other}:1`;
      await using tunnel = await Tunnel.start(workspace, ports, '--log-format', 'json', '--debug');
      const ask = async (to: number): Promise<string> => {
        let text = '';
        const socket = connect(to, '127.0.0.1', () => socket.end()).on('error', () => undefined);
        socket.on('data', (bytes: Buffer) => (text += bytes.toString()));
        await new Promise((resolve) => socket.once('close', resolve));
        return text;
      };
      const skip = daemon.log.length;
      expect(await ask(port)).toBe('served');
      const ended = await daemon.logged(({ msg }) => msg === 'stream ended', skip);
      expect(ended).toMatchObject({ port: host.port, fromClient: 0, toClient: 'served'.length });
      await ask(other);
      await tunnel.program.said('refuses host port 1');
      const records = linesOf((await tunnel.stop()).stderr);
      for (const { time } of records) expect(time).toMatch(TIME);
      expect(records).toContainEqual(
        expect.objectContaining({
          level: 'info',
          ports: [
            { protocol: 'TCP', containerPort: port, hostPort: host.port },
            { protocol: 'TCP', containerPort: other, hostPort: 1 },
          ],
        }),
      );
      expect(records).toContainEqual(
        expect.objectContaining({ level: 'warn', hostPort: 1, rule: 'port-not-listed' }),
      );
      expect(records).toContainEqual(
        expect.objectContaining({ level: 'debug', msg: 'stream ended', received: 6 }),
      );
    });

    it('say as JSON, too, why it could not begin', async () => {
      const words = ['cli', 'proxy', '--publish', 'TCP:1', '--proxy', 'nobody_serves_this'];
      const { code, stderr } = await wins(...words, '--log-format', 'json');
      expect(code).toBe(125);
      expect(linesOf(stderr)).toMatchObject([{ level: 'fatal', exitCode: 125 }]);
    });
  });
});

describe('a daemon that cannot start', () => {
  const workspace = new Workspace();
  afterAll(() => workspace[Symbol.dispose]());

  it('reports it in one line of its log, with the code and the next step', async () => {
    const config = workspace.write('config', 'white_list:\n  proxyPorts: [70000, 80000]\n');
    const { code, stderr } = await Daemon.launch(workspace, config).outcome;
    expect([code, stderr.trim().split('\n')]).toEqual([78, [expect.any(String)]]);
    expect(JSON.parse(stderr)).toMatchObject({
      level: 'fatal',
      code: 'invalid',
      exitCode: 78,
      problems: [expect.stringContaining('70000'), expect.stringContaining('80000')],
      next: `run: wins srv config check --config ${config}`,
    });
  });

  const atTerminal = wherePossible(
    it,
    process.platform === 'linux' && spawnSync('script', ['--version']).status === 0,
    'the log at a terminal, since there is no program `script` to make one',
  );
  atTerminal.each([
    [{}, true],
    [{ NO_COLOR: '1' }, false],
  ])('reads well at a terminal; with %j in colours: %s', async (more, hasColours) => {
    mkdirSync(workspace.runtimeDirectory, { recursive: true });
    chmodSync(workspace.runtimeDirectory, 0o777);
    const command = `${process.execPath} ${WINS} srv app run --config ${workspace.config([])}`;
    const { NO_COLOR: _, FORCE_COLOR: __, ...environment } = workspace.environment;
    const words = ['-qec', command, '/dev/null'];
    const { outcome } = startProgram('/usr/bin/script', words, { ...environment, ...more });
    const { code, stdout } = await outcome;
    const shown = stdout.toString();
    expect(code).toBe(77);
    expect(shown).toMatch(/INFO[^\n]*: .*starting/);
    expect(shown).toMatch(/^wins: [^\r\n{]+ \(mode 0777\); [^\r\n]+\r?$/m);
    expect(shown.includes('\u001b')).toBe(hasColours);
  });
});
