import {
  RunExposeProtocol,
  type ProcessName,
  type WinsClientError,
  createWinsClient,
  type WinsClient,
} from '@wins/wins-api';
import type { ProcessStartRequest } from '@wins/wins-api/contract';
import { copyFileSync, existsSync } from 'node:fs';
import { startWins } from '../testing/built-program.js';
import { Daemon } from '../testing/daemon.js';
import { startRequest } from '../testing/digests.js';
import { markOf } from '../testing/mark-of.js';
import { Workspace } from '../testing/workspace.js';

const SECRET = 'a-secret-of-the-daemon';

describe('an attacker who may start a listed program', () => {
  const workspace = new Workspace();
  const proof = workspace.path('it-ran');
  const shown = workspace.script('env', 'exec env');
  const sleeper = workspace.script('sleeper', 'echo up; exec sleep 1000');
  const clients: WinsClient[] = [];
  let daemon: Daemon;
  let client: WinsClient;
  let other: WinsClient;

  beforeAll(async () => {
    workspace.program('node', `require('node:fs').writeFileSync(${JSON.stringify(proof)}, '')`);
    workspace.write(
      'python',
      `#!/usr/bin/env python3\nopen(${JSON.stringify(proof)}, 'w')\n`,
      0o755,
    );
    for (const tool of ['tar', 'git']) {
      copyFileSync(
        existsSync(`/usr/bin/${tool}`) ? `/usr/bin/${tool}` : shown,
        workspace.path(tool),
      );
    }
    const tools = ['node', 'python', 'tar', 'git'].map((name) => workspace.path(name));
    const config = workspace.config(
      [
        ...tools.map((path) => ({ path, args: 'none', envs: 'any' })),
        { path: shown, envs: ['NODE_NAME'] },
        { path: sleeper, args: [[], ['--token', SECRET]] },
      ],
      { processEnvironment: { ZONE: 'a' } },
    );
    const secrets = { AWS_SECRET_ACCESS_KEY: SECRET, TOKEN: SECRET, HOME: `/${SECRET}` };
    const environment = { ...workspace.environment, ...secrets };
    daemon = Daemon.of(startWins(['srv', 'app', 'run', '--config', config], environment));
    const { address } = await daemon.logged(({ msg }) => msg === 'ready');
    const connect = () => createWinsClient({ address: String(address) });
    clients.push((client = connect()), (other = connect()));
  });
  afterAll(async () => {
    for (const each of clients) await each.close();
    await daemon[Symbol.asyncDispose]();
    workspace[Symbol.dispose]();
  });

  async function attempt(file: string, change: Partial<ProcessStartRequest>): Promise<string> {
    try {
      await client.runs.stop(await client.startProcess({ ...startRequest(file), ...change }));
      return 'started';
    } catch (error) {
      return (error as WinsClientError).reason ?? String(error);
    }
  }

  async function outputOf(name: ProcessName): Promise<string> {
    const lease = client.keepAlive(name);
    let output = '';
    for await (const { options } of client.waitProcess(name)) {
      if (options?.$case === 'stdOut') output += options.value.toString();
    }
    await lease.end();
    return output;
  }

  it.each([
    ['python', ['PYTHONSTARTUP', 'PYTHONPATH', 'PYTHONINSPECT', 'PYTHONHOME', 'HOME']],
    ['node', ['NODE_OPTIONS', 'NODE_PATH', 'NODE_REPL_EXTERNAL_MODULE', 'HOME']],
    ['tar', ['TAR_OPTIONS', 'TAPE', 'PATH']],
    ['git', ['GIT_CONFIG_COUNT', 'GIT_CONFIG_GLOBAL', 'GIT_SSH_COMMAND', 'GIT_EXEC_PATH', 'PAGER']],
  ])(
    'cannot make %s run his code by a variable, even where any is granted (A40)',
    async (name, variables) => {
      for (const variable of variables) {
        const envs = ['POD_NAME=x', `${variable}=/tmp/evil`];
        expect(await attempt(workspace.path(name), { envs })).toBe('envNotAllowed');
      }
      expect(existsSync(proof)).toBe(false);
    },
  );

  it('cannot set a variable that the entry does not grant, and learns which key would (A40)', async () => {
    const refused = client.startProcess({ ...startRequest(shown), envs: ['PROXY=x'] });
    await expect(refused).rejects.toThrow(/"PROXY".*"envs"/);
    expect(await attempt(shown, { args: [] })).toBe('started');
    expect(await attempt(workspace.path('tar'), { args: ['--version'] })).toBe(
      'argumentsNotAllowed',
    );
  });

  it('learns the key that refuses its arguments, and nothing of what is granted (A40)', async () => {
    const refused = client.startProcess({ ...startRequest(sleeper), args: ['--token', 'x'] });
    const message = await refused.then(
      () => 'started',
      (error: unknown) => (error as Error).message,
    );
    expect(message).toMatch(/with these 2 arguments: .*"args" of the entry/);
    expect(message).not.toMatch(new RegExp(`${SECRET}|token`));
  });

  it('reads nothing of the environment of the daemon (A41)', async () => {
    const name = await client.startProcess({ ...startRequest(shown), envs: ['NODE_NAME=n'] });
    const output = await outputOf(name);
    expect(output).not.toContain(SECRET);
    const names = output
      .trim()
      .split('\n')
      .map((line) => line.split('=', 1)[0]);
    const ours = ['RANCHER_WINS_RUN', 'RANCHER_WINS_RUNTIME_DIR'];
    const known = ['HOME', 'LANG', 'NODE_NAME', 'PATH', ...ours, 'ZONE'];
    // The shell adds these variables by itself.
    const added = ['OLDPWD', 'PWD', 'SHLVL', 'TZ', '_'];
    expect(names.filter((each) => !added.includes(each ?? '')).sort()).toEqual(known);
    expect(output).toContain('HOME=/nonexistent\n');
  });

  it.each<[string, Partial<ProcessStartRequest>]>([
    [
      'A50 140,000 variables',
      { envs: Array.from({ length: 140_000 }, (_, n) => `${n.toString(36)}=`) },
    ],
    ['A50 200,000 arguments', { args: Array.from({ length: 200_000 }, () => 'x') }],
    [
      'A51 200,000 ports',
      {
        exposes: Array.from({ length: 200_000 }, () => ({
          port: 80,
          protocol: RunExposeProtocol.TCP,
        })),
      },
    ],
  ])('is refused %s, and another client is served meanwhile', async (_what, change) => {
    const attempts = [attempt(shown, change), attempt(shown, change)];
    expect((await other.info()).version).toMatch(/^v/);
    expect(await Promise.all(attempts)).toEqual(['invalidArgument', 'invalidArgument']);
  });

  it('cannot occupy a name by starts with wrong checksums (A55)', async () => {
    let done = false;
    const wrong = { checksumSha256: '0'.repeat(64) };
    const flood = Array.from({ length: 8 }, async () => {
      const reasons = new Set<string>();
      while (!done) reasons.add(await attempt(sleeper, wrong));
      return [...reasons];
    });
    for (let start = 0; start < 15; start += 1) {
      await other.runs.stop(await other.startProcess(startRequest(sleeper)));
    }
    done = true;
    const reasons = new Set((await Promise.all(flood)).flat());
    expect(reasons.delete('checksumMismatch')).toBe(true);
    reasons.delete('alreadyRunning');
    expect([...reasons]).toEqual([]);
  });

  it('learns the id of no run from the log or from the environment of its processes (A59)', async () => {
    const skip = daemon.log.length;
    const name = await client.startProcess(startRequest(shown));
    const output = await outputOf(name);
    const mark = markOf(name.runId);
    expect(output).toContain(`RANCHER_WINS_RUN=${mark}:`);
    await daemon.logged((record) => record['type'] === 'ended' && record['mark'] === mark, skip);
    expect(JSON.stringify(daemon.log)).not.toContain(name.runId);

    const running = await client.startProcess(startRequest(sleeper));
    const guesses = [markOf(running.runId), ''];
    for (const runId of guesses) {
      const read = async () => {
        for await (const part of other.waitProcess({ ...running, runId })) return part;
        return undefined;
      };
      await expect(read()).rejects.toMatchObject({
        reason: runId === '' ? 'notOwner' : 'notFound',
      });
    }
    await client.runs.stop(running);
  });
});
