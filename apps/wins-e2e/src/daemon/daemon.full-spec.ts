import { Client, credentials } from '@grpc/grpc-js';
import { createHash } from 'node:crypto';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  cpSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { once } from 'node:events';
import path from 'node:path';
import { runWins, startProgram, startWins } from '../testing/built-program.js';
import { Daemon, type LogRecord } from '../testing/daemon.js';
import { wherePossible } from '../testing/where-possible.js';
import { WINS, Workspace } from '../testing/workspace.js';
import { drainsRuns } from './drained-runs.js';

describe('a daemon that serves', () => {
  let workspace: Workspace;
  let tool: string;
  /** A program of which the daemon cannot place a copy. */
  let blocked: string;
  let config: string;
  let daemon: Daemon;
  beforeAll(async () => {
    workspace = new Workspace();
    tool = workspace.script('tool', 'echo 1');
    blocked = workspace.script('readonly/prog', 'echo hi');
    config = workspace.config([tool, blocked]);
    daemon = await Daemon.start(workspace, config);
  });
  afterAll(async () => {
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  const wins = (...args: string[]) => runWins(args, workspace.environment);
  const info = (...args: string[]) => wins('cli', 'app', 'info', ...args);

  it('says which release it is, in the bytes that the Go client printed', async () => {
    const { stdout, code } = await info();
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(
      /^\{"Client":\{"Checksum":"[0-9a-f]{40}","Version":"v[^"]+","Commit":"[^"]+"\},"Server":\{"Checksum":"[0-9a-f]{40}","Version":"v[^"]+","Commit":"[^"]+"\}\}$/,
    );
    const { Client, Server } = JSON.parse(stdout.toString()) as Record<string, unknown>;
    expect(Client).toEqual(Server);
  });

  describe('whose client tells its own checksum', () => {
    const FALSE_SUM = '0'.repeat(40);
    let program: string;
    let kept: string;
    beforeAll(() => {
      program = workspace.path('programs', 'wins.cjs');
      cpSync(path.dirname(WINS), path.dirname(program), {
        recursive: true,
        filter: (file) => file === path.dirname(WINS) || file.endsWith('.cjs'),
      });
      kept = workspace.path('cache', 'rancher-wins', 'wins.cjs.sha1');
    });
    beforeEach(() => mkdirSync(workspace.path('cache')));
    afterEach(() => rmSync(workspace.path('cache'), { recursive: true }));

    const told = async () => {
      const args = [program, 'cli', 'app', 'info'];
      const { stdout, stderr } = await startProgram(process.execPath, args, workspace.environment)
        .outcome;
      expect(stderr).toBe('');
      return (JSON.parse(stdout.toString()) as { Client: { Checksum: string } }).Client.Checksum;
    };
    const sum = () => createHash('sha1').update(readFileSync(program)).digest('hex');
    const claimAnother = () =>
      writeFileSync(kept, readFileSync(kept, 'utf8').replace(sum(), FALSE_SUM));

    it('hashes its file once, and again when the file has changed', async () => {
      expect(await told()).toBe(sum());
      claimAnother();
      expect(await told()).toBe(FALSE_SUM);
      appendFileSync(program, '\n');
      expect(await told()).toBe(sum());
      claimAnother();
      expect(await told()).toBe(FALSE_SUM);
    });

    const replaceByFolder = () => {
      rmSync(kept);
      mkdirSync(kept);
    };

    it.each([
      ['torn', () => truncateSync(kept, 60)],
      ['a folder', replaceByFolder],
      ['longer', () => appendFileSync(kept, 'f')],
      ['empty', () => truncateSync(kept)],
    ])('hashes its file when what it kept is %s', async (_, spoil) => {
      expect(await told()).toBe(sum());
      claimAnother();
      spoil();
      expect(await told()).toBe(sum());
    });

    const replaceByLink = () => {
      renameSync(workspace.path('cache'), workspace.path('elsewhere'));
      symlinkSync(workspace.path('elsewhere'), workspace.path('cache'));
    };

    const asRoot = wherePossible(
      it,
      process.getuid?.() === 0,
      'a folder of another user: not root',
    );
    asRoot.each([
      ['that belongs to another user', () => chownSync(workspace.path('cache'), 65534, 65534)],
      ['in which others may write', () => chmodSync(workspace.path('cache'), 0o777)],
      ['to which a link leads', replaceByLink],
    ])('keeps nothing, and reads nothing, in a folder %s', async (_, share) => {
      expect(await told()).toBe(sum());
      claimAnother();
      share();
      expect(await told()).toBe(sum());
      expect(readFileSync(kept, 'utf8')).toContain(FALSE_SUM);
    });

    asRoot('does not follow a link of another user', async () => {
      const victim = workspace.write('victim', 'mine');
      mkdirSync(path.dirname(kept));
      symlinkSync(victim, kept);
      chownSync(path.dirname(kept), 65534, 65534);
      expect(await told()).toBe(sum());
      expect(readFileSync(victim, 'utf8')).toBe('mine');
    });
  });

  it('is not harmed by a second daemon on its pipe, which reports the conflict and exits with 69', async () => {
    const second = await Daemon.launch(workspace, config).outcome;
    expect(second.code).toBe(69);
    expect(second.stderr).toContain('rancher_wins');
    expect((await info()).code).toBe(0);
  });

  it('serves beside another daemon that has other pipes', async () => {
    const other = workspace.write(
      'other',
      JSON.stringify({
        listen: 'other_wins',
        proxy: 'other_wins_proxy',
        white_list: { processPaths: [tool] },
      }),
    );
    await using _other = await Daemon.start(workspace, other);
    expect((await info('--server', 'other_wins')).code).toBe(0);
    expect((await info('--server', 'npipe:////./pipe/rancher_wins')).code).toBe(0);
    expect((await wins('cli', 'prc', 'run', '--path', tool, '--server', 'other_wins')).code).toBe(
      0,
    );
  });

  it('refuses cleanly when it cannot place the copy of a program, and goes on', async () => {
    // A folder with content blocks the copy: no rename can replace it, even for root.
    mkdirSync(workspace.path('readonly', 'rancher-wins-prog', 'full'), { recursive: true });
    const { code, stderr } = await wins('cli', 'prc', 'run', '--path', blocked);
    expect(code).toBe(125);
    expect(stderr).toContain('rancher-wins-prog');
    expect((await info()).code).toBe(0);
  });
});

describe('the daemon', () => {
  let workspace: Workspace;
  beforeEach(() => {
    workspace = new Workspace();
  });
  afterEach(() => workspace[Symbol.dispose]());

  const wins = (...args: string[]) => runWins(args, workspace.environment);
  const info = (...args: string[]) => wins('cli', 'app', 'info', ...args);

  it('runs nothing without a whitelist, and names the key to set', async () => {
    await using daemon = await Daemon.start(workspace, workspace.write('config', ''));
    const warning = await daemon.logged(({ msg }) => msg.includes('may run'));
    expect(warning).toMatchObject({ level: 'warn' });
    expect(JSON.stringify(warning)).toContain('white_list.processPaths');
    const program = workspace.script('any', 'echo no');
    expect((await wins('cli', 'prc', 'run', '--path', program)).code).toBe(126);
  });

  it('ends with 78 and names every problem of a wrong config', async () => {
    const config = workspace.write(
      'wrong',
      'listen: ""\nwhite_list:\n  proxyPorts: [70000]\n  processPaths:\n    - path: /x\n      sha256: beef\n',
    );
    const { code, stderr } = await Daemon.launch(workspace, config).outcome;
    expect(code).toBe(78);
    for (const text of [config, 'listen', '70000', 'beef']) expect(stderr).toContain(text);
  });

  it('starts with a warning about a key that it does not know, where config check fails', async () => {
    const config = workspace.write('config', 'debgu: true\n');
    await using daemon = await Daemon.start(workspace, config);
    expect(daemon.log).toContainEqual(
      expect.objectContaining({ level: 'warn', line: 1 }) as LogRecord,
    );
    const { code, stderr } = await wins('srv', 'config', 'check', '--config', config);
    expect(code).toBe(78);
    expect(stderr).toContain('debgu');
    expect(stderr).toContain('debug');
    const lenient = await wins('srv', 'config', 'check', '--lenient', '--config', config);
    expect([lenient.code, lenient.stderr]).toEqual([0, expect.stringContaining('debgu')]);
  });

  it('checks a config and says where each value comes from', async () => {
    const config = workspace.write('config', 'debug: yes\nwhite_list:\n  processPaths: [/bin/x]\n');
    const { code, stdout } = await wins('srv', 'config', 'check', '--config', config);
    expect(code).toBe(0);
    expect(stdout.toString()).toMatch(/^debug: true +# line 1$/m);
    expect(stdout.toString()).toMatch(/^listen: "rancher_wins" +# default$/m);
    const schema = await wins('srv', 'config', 'schema');
    expect(JSON.parse(schema.stdout.toString())).toMatchObject({ type: 'object' });
  });

  it('prints what an operator may have to add to an old config, and names what it allows too widely', async () => {
    const config = workspace.write('config', 'white_list:\n  processPaths: [/bin/x, /bin/sh]\n');
    const words = ['srv', 'config', 'check', '--explain-migration', '--config', config];
    const { code, stdout, stderr } = await wins(...words);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/processPaths\[1\]: .*"args".*\n$/)]);
    workspace.write('config', stdout);
    expect(await wins(...words)).toMatchObject({ code: 0, stdout });
  });

  it('does not start with a variable for every run that loads code, and says where it stands', async () => {
    const wrong = { processEnvironment: { LD_PRELOAD: '/x.so' } };
    const config = workspace.write('unsafe', JSON.stringify(wrong));
    const { code, stderr } = await Daemon.launch(workspace, config).outcome;
    expect(code).toBe(78);
    expect(stderr).toMatch(/processEnvironment: .*LD_PRELOAD/);
  });

  it('does not serve where others could tamper with its pipe: it says what it found and ends with 77', async () => {
    mkdirSync(workspace.runtimeDirectory);
    chmodSync(workspace.runtimeDirectory, 0o777);
    const { code, stderr } = await Daemon.launch(workspace, workspace.config([])).outcome;
    expect(code).toBe(77);
    expect(stderr).toContain(workspace.runtimeDirectory);
    expect(stderr).toContain('777');
  });

  it('takes over the socket file of a daemon that was killed', async () => {
    const config = workspace.config([]);
    const first = await Daemon.start(workspace, config);
    await first.stop('SIGKILL');
    await using _second = await Daemon.start(workspace, config);
    expect((await info()).code).toBe(0);
  });

  it('serves a client that waits for its start, while other clients fail at once', async () => {
    const impatient = await info();
    expect(impatient.code).toBe(125);
    expect(impatient.stderr).toMatch(/^wins: [^\n]*rancher_wins[^\n]*--wait-timeout[^\n]*\n$/);
    const patient = startWins(
      ['cli', 'app', 'info', '--wait-timeout', '60s'],
      workspace.environment,
    );
    await using _daemon = await Daemon.start(workspace, workspace.config([]));
    expect((await patient.outcome).code).toBe(0);
  });

  it('logs a callback that failed, and other warnings of Node, as records and as nothing else', async () => {
    using workspace = new Workspace();
    // The daemon has no callback that fails, so a signal stands for it.
    const preloaded = workspace.write(
      'warn.cjs',
      `process.on('SIGUSR2', () => {
        process.emitWarning('a callback failed', { code: 'WINS_CALLBACK_FAILED', detail: 'Error: full' });
        process.emitWarning('this is old', 'DeprecationWarning');
      });`,
    );
    workspace.variables['NODE_OPTIONS'] = `--require ${preloaded}`;
    await using daemon = await Daemon.start(workspace, workspace.config([]));
    daemon.child.kill('SIGUSR2');
    expect(await daemon.logged(({ code }) => code === 'WINS_CALLBACK_FAILED')).toMatchObject({
      level: 'error',
      detail: 'Error: full',
    });
    const other = await daemon.logged(({ msg }) => msg === 'Node warns');
    expect(other).toMatchObject({ level: 'warn', err: { message: 'this is old' } });
    await daemon.stop();
    expect(daemon.text.split('\n').filter((line) => !line.startsWith('{'))).toEqual(['']);
  });

  it('drains ten runs and their clients when told to end', () => drainsRuns(workspace, 10));

  it('says that it takes no new work before it stops what runs', async () => {
    const mayEnd = workspace.path('may-end');
    const program = workspace.program(
      'slow-to-end',
      `// Ends when it was asked to and the test has seen what it wanted to see.
const { existsSync } = require('node:fs');
let asked = false;
process.on('SIGTERM', () => (asked = true));
setInterval(() => asked && existsSync(${JSON.stringify(mayEnd)}) && process.exit(0), 10);
console.log('up');`,
    );
    await using daemon = await Daemon.start(workspace, workspace.config([program]));
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    const health = new Client(`unix:${String(address)}`, credentials.createInsecure());
    const bytes = (buffer: Buffer): Buffer => buffer;
    const watch = health.makeServerStreamRequest(
      '/grpc.health.v1.Health/Watch',
      bytes,
      bytes,
      Buffer.alloc(0),
    );
    watch.on('error', () => undefined);
    // HealthCheckResponse has one field, the status: 1 is SERVING, and 2 is NOT_SERVING.
    expect(((await once(watch, 'data')) as [Buffer])[0]).toEqual(Buffer.from([8, 1]));
    const client = startWins(['cli', 'prc', 'run', '--path', program], workspace.environment);
    await client.printed('up');
    const told = once(watch, 'data') as Promise<[Buffer]>;
    daemon.child.kill('SIGTERM');
    expect((await told)[0]).toEqual(Buffer.from([8, 2]));
    expect(client.child.exitCode).toBeNull();
    workspace.write('may-end', '');
    expect((await client.outcome).code).toBe(0);
    health.close();
  });
});
