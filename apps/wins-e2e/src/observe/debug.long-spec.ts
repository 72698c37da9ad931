import { mayMount } from '@wins/base/testing';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs';
import { connect } from 'node:net';
import { runWins, startProgram, startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { mayMakeContainer, startInContainer } from '../testing/other-container.js';
import { until } from '../testing/process-table.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';

const SECRET = 'canary-0c5b7e';

describe('diagnosis on the pipe of administrators', () => {
  const workspace = new Workspace();
  const pipe = workspace.path('run', 'rancher_wins_admin');
  let daemon: Daemon;
  beforeAll(async () => {
    const tool = workspace.script('tool', 'echo up; exec sleep 1000');
    const config = workspace.config([tool], { processEnvironment: { TOKEN: SECRET } });
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });
  const debug = (...words: string[]) =>
    runWins(
      ['srv', 'debug', ...words, '--config', workspace.path('config')],
      workspace.environment,
    );
  const text = async (...words: string[]): Promise<string> => {
    const { code, stdout, stderr } = await debug(...words);
    expect([code, stderr]).toEqual([0, '']);
    return String(stdout);
  };

  it('is there before the daemon says that it is ready', async () => {
    using other = new Workspace();
    await using _daemon = await Daemon.start(other, other.config([]));
    expect(existsSync(other.path('run', 'rancher_wins_admin'))).toBe(true);
  });

  it('tells what runs and who is connected, and no id that gives output away', async () => {
    const words = ['cli', 'prc', 'run', '--path', workspace.path('tool')];
    const client = startWins(words, workspace.environment);
    await client.printed('up');
    const runs = JSON.parse(await text('runs', '-o', 'json')) as Record<string, unknown>[];
    expect(runs).toMatchObject([
      {
        name: 'rancher-wins-tool',
        state: 'running',
        owner: expect.stringMatching(/^pipe:\d+$/) as string,
      },
    ]);
    expect(Object.keys(runs[0] ?? {})).not.toContain('RunID');
    const open = JSON.parse(await text('connections', '-o', 'json')) as object[];
    expect(open).toMatchObject([{ name: runs[0]?.['owner'], client: { pid: client.child.pid } }]);
    client.child.kill();
    await client.outcome;
  });

  it('shows secrets only in the heap, and records who took it', async () => {
    const file = workspace.path('all.heapsnapshot');
    for (const words of [['stacks', '--seconds', '0.2'], ['report'], ['handles', '-o', 'json']])
      expect(await text(...words)).not.toContain(SECRET);
    for (const [name, words] of [
      ['a.cpuprofile', ['cpu', '--seconds', '0.2']],
      ['trace.json', ['trace', '--seconds', '0.2']],
    ] as const) {
      await text(...words, workspace.path(name));
      const content = readFileSync(workspace.path(name), 'utf8');
      expect(JSON.parse(content)).toBeInstanceOf(Object);
      expect(content).not.toContain(SECRET);
    }
    await text('heap', file);
    const content = readFileSync(file, 'utf8');
    expect(JSON.parse(content)).toMatchObject({ snapshot: { meta: expect.any(Object) as object } });
    expect(content).toContain(SECRET);
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const record = await daemon.logged(({ action }) => action === 'debugHeap');
    expect(record).toMatchObject({
      log: 'audit',
      verdict: 'allowed',
      requester: expect.stringMatching(/^admin:/) as string,
    });
  });

  it('logs more for some time', async () => {
    await text('log-level', 'debug', '--for', '1h');
    await runWins(['cli', 'app', 'info'], workspace.environment);
    await daemon.logged(({ level, method }) => level === 'debug' && method !== undefined);
    expect(await text('log-level')).toContain('the level is debug until ');
    await text('log-level', 'default');
    expect(await text('log-level')).toContain('the level is info\n');
    expect((await debug('log-level', 'silent')).code).toBe(64);
  });

  it('replaces no file and follows no link (A79)', async () => {
    const file = workspace.write('mine', 'mine');
    const link = workspace.path('link');
    symlinkSync(workspace.path('elsewhere'), link);
    for (const location of [file, link]) {
      const { code, stderr } = await debug('heap', location);
      expect([code, stderr]).toEqual([
        64,
        expect.stringContaining('a file of that name exists already'),
      ]);
    }
    expect(readFileSync(file, 'utf8')).toBe('mine');
    expect(existsSync(workspace.path('elsewhere'))).toBe(false);
  });

  it('leaves no file of an interrupted answer, and answers the next request at once (A79)', async () => {
    const file = workspace.path('broken-off.cpuprofile');
    const words = ['srv', 'debug', 'cpu', '--seconds', '60', file];
    const asked = startWins(
      [...words, '--config', workspace.path('config')],
      workspace.environment,
    );
    await until(() => existsSync(file));
    const none = workspace.path('none');
    // Only one profile runs at a time. The loop's command succeeds until the profile of `asked` starts.
    while ((await debug('cpu', '--seconds', '0.1', none)).code === 0) rmSync(none);
    expect(existsSync(none)).toBe(false);
    asked.child.kill('SIGINT');
    const { code, stderr } = await asked.outcome;
    expect([code, stderr]).toEqual([
      70,
      expect.stringContaining('interrupted before the whole answer'),
    ]);
    expect(existsSync(file)).toBe(false);
    while ((await debug('cpu', '--seconds', '0.1', file)).code !== 0);
  });

  it('serves others while somebody holds many silent connections (A79)', async () => {
    const sockets = Array.from({ length: 100 }, () => connect(pipe));
    for (const socket of sockets) socket.on('error', () => undefined).resume();
    await Promise.all(sockets.map((socket) => once(socket, 'connect')));
    expect(await text('handles', '-o', 'json')).toContain('PipeWrap');
    for (const socket of sockets) socket.destroy();
  });

  const fullDisk = workspace.path('disk');
  wherePossible(
    it,
    mayMount(),
    'a full disk while a heap is written: no right to mount',
  )('leaves no file on a full disk, and the daemon serves on (A79)', async () => {
    mkdirSync(fullDisk);
    const options = ['-t', 'tmpfs', '-o', 'size=1m,mode=0700', 'tmpfs', fullDisk];
    expect(spawnSync('/bin/mount', options).status).toBe(0);
    try {
      const { code, stderr } = await debug('heap', `${fullDisk}/all.heapsnapshot`);
      expect([code, stderr]).toEqual([70, expect.stringContaining('the disk is full')]);
      expect(readdirSync(fullDisk)).toEqual([]);
      await text('handles', '-o', 'json');
    } finally {
      spawnSync('/bin/umount', [fullDisk]);
    }
  });

  wherePossible(
    it,
    mayMakeContainer(),
    'a container that was given the pipe: no right to make one',
  )('tells nothing to a container that was given the pipe (A78)', async () => {
    const file = workspace.path('from-container');
    const config = ['--config', workspace.path('config')];
    for (const words of [['stacks'], ['heap', file], ['runs'], ['log-level', 'debug']]) {
      const asked = startInContainer(
        [WINS, 'srv', 'debug', ...words, ...config],
        workspace.environment,
      );
      const { code, stdout, stderr } = await asked.outcome;
      expect([code, String(stdout)]).toEqual([77, '']);
      expect(stderr).toContain('only administrators of the host may');
    }
    expect(existsSync(file)).toBe(false);
    expect(await text('log-level')).toBe('the level is info\n');
  });

  wherePossible(
    it,
    process.getuid?.() === 0,
    'another user of the host: not root',
  )('cannot be opened by another user, whose client trusts no pipe but its own (A78)', async () => {
    const script = `require('net').connect(${JSON.stringify(pipe)}).on('error', ({ code }) => console.log(code))`;
    const words = ['-e', script];
    const nobody = { uid: 65_534, gid: 65_534, cwd: '/' };
    const { stdout } = await startProgram(process.execPath, words, {}, nobody).outcome;
    expect(String(stdout)).toBe('EACCES\n');
  });
});

describe('a daemon whose config says debugPipe', () => {
  it('tells nothing while that is false, from its start or after a reload, and tells again', async () => {
    using workspace = new Workspace();
    const config = workspace.config([], { debugPipe: false });
    await using _daemon = await Daemon.start(workspace, config);
    const handles = () =>
      runWins(['srv', 'debug', 'handles', '--config', config], workspace.environment);
    const { code, stderr } = await handles();
    expect([code, stderr]).toEqual([69, expect.stringContaining('set debugPipe: true')]);
    for (const isOn of [true, false]) {
      workspace.config([], { debugPipe: isOn });
      await runWins(['srv', 'config', 'reload', '--config', config], workspace.environment);
      expect((await handles()).code).toBe(isOn ? 0 : 69);
    }
  });
});

describe('a daemon with --profile', () => {
  it('writes it at its orderly end', async () => {
    using workspace = new Workspace();
    const file = workspace.path('the.cpuprofile');
    const options = ['--profile', 'cpu', '--profile-output', file];
    const daemon = await Daemon.start(workspace, workspace.config([]), ...options);
    expect((await daemon.stop()).code).toBe(0);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toHaveProperty('nodes');
    expect(statSync(file).mode & 0o777).toBe(0o600);
  });
});
