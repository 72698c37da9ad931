import { serviceControlManager } from '@wins/windows-host';
import assert from 'node:assert/strict';
import {
  closeSync,
  copyFileSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
} from 'node:fs';
import path from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { startProgram } from '../harness/built-program.js';
import { ROOT } from '../harness/workspace.js';
import { until, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';
/** What stays in the private folder; a program that runs cannot be removed, so the next upgrade removes the helper. */
const REMAINS = /^(lock|result\.json|upgrade\.log|helper-[0-9a-f]+\.exe)$/;
/** Several looks of the daemon, more than it takes to begin an upgrade. */
const SEVERAL_LOOKS_MS = 6000;

interface Result {
  readonly id: string;
  readonly outcome: string;
  readonly reason: string;
  readonly to?: { readonly version?: string };
}

describe('a service that watches a file on Windows', () => {
  const workspace = new WindowsWorkspace();
  const services = serviceControlManager();
  const target = workspace.path('wins.exe');
  const watched = workspace.path('offered.exe');
  const folder = `${target}.upgrade`;
  const resultFile = path.join(folder, 'result.json');
  // As the original's config has it: with slashes.
  const upgrade = { mode: 'watching', watchingPath: watched.replaceAll('\\', '/') };
  const words = ['srv', 'app', 'run', '--config', workspace.config([], [], { upgrade })];

  const release = (name: string) => path.join(ROOT, 'dist', 'watched-file', `${name}.exe`);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await startProgram(target, args, process.env).outcome;
    return { code, stdout: stdout.toString(), stderr };
  };
  const offer = (name: string): void => {
    copyFileSync(release(name), workspace.path('next.exe'));
    renameSync(workspace.path('next.exe'), watched);
  };
  const result = (): Result | undefined =>
    existsSync(resultFile) ? (JSON.parse(readFileSync(resultFile, 'utf8')) as Result) : undefined;
  const ended = async (outcome: string, version: string): Promise<Result> => {
    await until(() => result()?.outcome === outcome && result()?.to?.version === version);
    await until(() => readdirSync(folder).every((name) => REMAINS.test(name)));
    return result() as Result;
  };
  const assertServes = async (version: string): Promise<void> => {
    const { stdout } = await run('cli', 'app', 'info', '--server', workspace.listen);
    assert.equal(/v\d+\.\d+\.\d+/.exec(stdout)?.[0], version);
    assert.ok(readFileSync(target).equals(readFileSync(release(version))));
    assert.ok(services.config(NAME).commandLine.startsWith(`"${target}" srv app run`));
  };

  before(async () => {
    // A real node may run the real service: that one is not for tests.
    assert.throws(() => services.status(NAME), { code: 'not-found' });
    copyFileSync(release('v1.0.0'), target);
    const { code, stderr } = await run(...words, '--register');
    assert.equal(code, 0, stderr);
    await services.start(NAME);
    await assertServes('v1.0.0');
  });
  after(async () => {
    await run('srv', 'app', 'run', '--unregister');
    await workspace.remove();
  });

  it('becomes what is put there, by a helper that outlives the daemon', async () => {
    const before = services.status(NAME).pid;
    offer('v1.1.0');
    assert.match((await ended('upgraded', 'v1.1.0')).id, /^watched-1-/);
    assert.notEqual(services.status(NAME).pid, before);
    await assertServes('v1.1.0');
  });

  it('goes back from a release that crashes, once, also after a restart', async () => {
    offer('crashes');
    const { id } = await ended('rolledBack', 'v1.9.0');
    await assertServes('v1.1.0');
    await services.stop(NAME);
    await services.start(NAME);
    const { pid } = services.status(NAME);
    await delay(SEVERAL_LOOKS_MS);
    assert.equal(services.status(NAME).pid, pid);
    assert.equal(result()?.id, id);
  });

  it('does not take a file that somebody has open for writing, and takes it afterwards', async () => {
    const before = result()?.id;
    const whole = workspace.path('next.exe');
    copyFileSync(release('v1.2.0'), whole);
    const open = openSync(whole, 'r+');
    try {
      renameSync(whole, watched);
      await delay(SEVERAL_LOOKS_MS);
      assert.equal(result()?.id, before);
    } finally {
      closeSync(open);
    }
    await ended('upgraded', 'v1.2.0');
    await assertServes('v1.2.0');
  });
});
