/** @needs releases */
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
import { startProgram } from '../testing/built-program.js';
import { ROOT } from '../testing/workspace.js';
import { until, WindowsWorkspace } from './windows-workspace.js';

const NAME = 'rancher-wins';
/** Files that stay in the private folder. The helper stays until the next upgrade, because a running program cannot be removed. */
const REMAINS = /^(lock|result\.json|upgrade\.log|helper-[0-9a-f]+\.exe)$/;
const PROGRAM_DATA = process.env['ProgramData'] ?? 'C:\\ProgramData';
/** Wine gives services another ProgramData. */
const LOG_FOLDERS = [PROGRAM_DATA, PROGRAM_DATA.replace(/ProgramData/i, 'users\\Public')].map(
  (folder) => path.join(folder, 'rancher\\wins\\log'),
);

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
  // The Go release writes the path with slashes.
  const upgrade = { mode: 'watching', watchingPath: watched.replaceAll('\\', '/') };
  const words = [
    'srv',
    'app',
    'run',
    '--config',
    workspace.config([], [], { upgrade, debug: true }),
  ];

  const release = (name: string) => path.join(ROOT, 'dist', 'upgrade', `${name}.exe`);
  const run = async (...args: string[]) => {
    const { code, stdout, stderr } = await startProgram(target, args, process.env).outcome;
    return { code, stdout: stdout.toString(), stderr };
  };
  const next = workspace.path('next.exe');
  /** Moves a release into place, as soon as the daemon is not reading the file. */
  const offer = async (name: string): Promise<void> => {
    copyFileSync(release(name), next);
    await until(isMoved);
  };
  const isMoved = (): boolean => {
    try {
      renameSync(next, watched);
      return true;
    } catch {
      return false;
    }
  };
  const begun = (): number =>
    readFileSync(path.join(folder, 'upgrade.log'), 'utf8').split('"offered"').length - 1;
  /** Returns the states that services have logged for their watched files. The logs contain states from other specs too. */
  const states = (): string[] => {
    const files = LOG_FOLDERS.filter((folder) => existsSync(folder)).flatMap((folder) =>
      readdirSync(folder).map((name) => path.join(folder, name)),
    );
    const text = files.map((file) => readFileSync(file, 'utf8')).join('');
    const lines = text
      .split('\n')
      .filter((line) => line.includes('"the watched file changed its state"'));
    return lines.map((line) => (JSON.parse(line) as { state: string }).state);
  };
  /** Ignores the first `known` states. */
  const found = (state: string, known: number): Promise<void> =>
    until(() => states().slice(known).includes(state));
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
    // Refuses to run on a real node: the tests would replace its service.
    assert.throws(() => services.status(NAME), { code: 'notFound' });
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
    await offer('v1.1.0');
    assert.match((await ended('upgraded', 'v1.1.0')).id, /^watched-1-/);
    assert.notEqual(services.status(NAME).pid, before);
    await assertServes('v1.1.0');
  });

  it('goes back from a release that crashes, once, also after a restart', async () => {
    await offer('crashes');
    const { id } = await ended('rolledBack', 'v1.9.0');
    await assertServes('v1.1.0');
    await services.stop(NAME);
    const known = states().length;
    await services.start(NAME);
    const { pid } = services.status(NAME);
    await found('settled', known);
    assert.equal(services.status(NAME).pid, pid);
    assert.equal(result()?.id, id);
    assert.equal(begun(), 2);
  });

  it('does not take a file that somebody has open for writing, and takes it afterwards', async () => {
    const before = begun();
    copyFileSync(release('v1.2.0'), next);
    const open = openSync(next, 'r+');
    const known = states().length;
    try {
      await until(isMoved);
      await found('deferred', known);
      assert.equal(begun(), before);
    } finally {
      closeSync(open);
    }
    await ended('upgraded', 'v1.2.0');
    assert.equal(begun(), before + 1);
    await assertServes('v1.2.0');
  });
});
