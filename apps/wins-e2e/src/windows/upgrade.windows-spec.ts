/** @needs releases */
import { resolvePipePath } from '@wins/pipe-transport';
import { serviceControlManager } from '@wins/windows-host';
import { createWinsClient } from '@wins/wins-api';
import assert from 'node:assert/strict';
import { copyFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { startProgram } from '../testing/built-program.js';
import { digest, release } from './windows-upgrade-world.js';
import { until, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';
/** Files that stay in the private folder. */
const REMAINS = /^(lock|result\.json|upgrade\.log|record-.*\.json)$/;

interface Result {
  readonly outcome: string;
  readonly reason: string;
}

describe('wins up on Windows', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const target = workspace.path('wins.exe');
  const folder = `${target}.upgrade`;
  const upgrader = workspace.path('wins-upgrade.exe');
  const resultFile = path.join(folder, 'result.json');
  const tool = workspace.program('tool');
  const detached = { allow: true };
  const config = workspace.config([
    { path: tool, detached },
    { path: upgrader, mayBreakAway: true },
    workspace.path('held-upgrade.exe'),
  ]);
  const words = `srv app run --config "${config}"`;

  const run = async (file: string, ...args: string[]) => {
    const { code, stdout, stderr } = await startProgram(file, args, process.env).outcome;
    return { code, stdout: stdout.toString(), stderr };
  };
  const up = async (name: string, ...args: string[]) => {
    const { code, stdout, stderr } = await run(release(name), 'up', '--json', ...args);
    assert.notEqual(stdout, '', stderr);
    return { code, ...(JSON.parse(stdout) as Result) };
  };
  const served = async () => {
    const { address } = resolvePipePath(workspace.listen);
    const client = createWinsClient({ address, connectTimeoutMs: 10_000 });
    try {
      const { version, checksum } = await client.info();
      return { version, sha1: checksum.toLowerCase() };
    } finally {
      await client.close();
    }
  };
  const digests = new Map<string, string>();
  const digestOf = (version: string) => {
    const found = digests.get(version) ?? digest('sha1', release(version));
    digests.set(version, found);
    return found;
  };
  const leftovers = () => readdirSync(folder).filter((name) => !REMAINS.test(name));
  /** Checks that the service still has its registered command and runs release `version`. */
  const assertServes = async (version: string) => {
    assert.equal(services.config(NAME).commandLine, `"${target}" ${words}`);
    assert.deepEqual(await served(), { version, sha1: digestOf(version) });
    assert.equal(digest('sha1', target), digestOf(version));
  };

  before(async () => {
    // Refuses to run on a real node: the tests would replace its service.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
    copyFileSync(release('v1.0.0'), target);
    const { code, stderr } = await run(
      target,
      ...words.split(' ', 3),
      '--config',
      config,
      '--register',
    );
    assert.equal(code, 0, stderr);
    await services.start(NAME);
    await assertServes('v1.0.0');
  });
  after(async () => {
    await run(release('v1.0.0'), 'srv', 'app', 'run', '--unregister');
    await workspace.remove();
  });

  it('replaces the program of the service, which serves then, and leaves nothing else behind but what lasts', async () => {
    const before = services.status(NAME).pid;
    const prc = (...args: string[]) =>
      run(target, 'cli', 'prc', args[0] ?? '', '--server', workspace.listen, ...args.slice(1));
    const stop = workspace.path('stop');
    const script = `setInterval(() => require('node:fs').existsSync(${JSON.stringify(stop)}) && process.exit(7), 200)`;
    const started = await prc('run', '-d', '--name', 'web', '--path', tool, '--', '-e', script);
    assert.deepEqual([started.code, started.stderr], [0, '']);
    const { code, outcome, reason } = await up('v1.1.0');
    assert.deepEqual([code, outcome], [0, 'upgraded'], reason);
    await assertServes('v1.1.0');
    assert.notEqual(services.status(NAME).pid, before);
    assert.deepEqual(leftovers(), []);
    workspace.write('stop', '');
    assert.equal((await prc('wait', 'web')).code, 7);
  });

  it('goes back when the new release crashes, and says so', async () => {
    const { code, outcome, reason } = await up('crashes');
    assert.deepEqual([code, outcome], [1, 'rolledBack'], reason);
    assert.match(reason, /cannot start the service|has ended/);
    assert.match(reason, /the previous release serves again/);
    await assertServes('v1.1.0');
    assert.deepEqual(leftovers(), []);
  });

  it('is done through the daemon itself by a helper that may outlive it', async () => {
    copyFileSync(release('v1.2.0'), upgrader);
    rmSync(resultFile);
    const helper = ['prc', 'run', '--server', workspace.listen, '--path', upgrader, '--'];
    const { code, stdout, stderr } = await run(target, 'cli', ...helper, 'up', '--json');
    assert.equal(code, 0, stderr);
    assert.equal((JSON.parse(stdout) as Result).outcome, 'handedOver');
    await until(() => existsSync(resultFile));
    const { outcome, reason } = JSON.parse(readFileSync(resultFile, 'utf8')) as Result;
    assert.equal(outcome, 'upgraded', reason);
    await assertServes('v1.2.0');
  });

  it('says what is missing when the helper may not outlive the daemon', async () => {
    const helper = workspace.path('held-upgrade.exe');
    // This newer release would crash as a daemon, but the upgrade is refused before the service starts it.
    copyFileSync(release('crashes'), helper);
    const args = ['prc', 'run', '--server', workspace.listen, '--path', helper, '--', 'up'];
    const { code, stdout, stderr } = await run(target, 'cli', ...args, '--json');
    assert.deepEqual([code, stderr], [65, ''], stdout);
    const { outcome, reason } = JSON.parse(stdout) as Result;
    assert.equal(outcome, 'refused');
    assert.match(reason, /mayBreakAway: true/);
    await assertServes('v1.2.0');
  });

  it('is finished or undone by the daemon that starts after a helper was killed', async () => {
    const helper = startProgram(release('v1.1.0'), ['up', '--allow-downgrade'], process.env);
    const journal = path.join(folder, 'journal.json');
    // The polls may miss the phase. The helper then ends by itself and leaves nothing to finish.
    await until(
      () =>
        helper.child.exitCode !== null ||
        (existsSync(journal) && readFileSync(journal, 'utf8').includes('"trial"')),
    );
    helper.child.kill('SIGKILL');
    await helper.outcome;
    await services.stop(NAME);
    await until(async () => {
      if (services.status(NAME).state === 'stopped') await services.start(NAME);
      return !existsSync(journal) && leftovers().length === 0;
    });
    const { version } = await served();
    await assertServes(version);
    const { code, outcome, reason } = await up('v1.2.0');
    const wanted = version === 'v1.2.0' ? 'nothing' : 'upgraded';
    assert.deepEqual([code, outcome], [0, wanted], reason);
    await assertServes('v1.2.0');
  });
});
