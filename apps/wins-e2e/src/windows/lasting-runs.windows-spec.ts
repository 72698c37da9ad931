import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, afterEach, before, describe, it } from 'node:test';
import type { Outcome, RunningProgram } from '../testing/built-program.js';
import { pipeAccess } from '@wins/windows-host';
import { ADMINISTRATORS_AND_SYSTEM, grantsTheSame, parseSecurityDescriptor } from '@wins/base';
import { isAlive, until, WindowsWorkspace } from './windows-workspace.js';

/** Counts, a line each 10 ms, until a file is there; its first line is its process. */
const COUNTER = `const { existsSync } = require('node:fs');
console.log(process.pid);
let line = 0;
setInterval(() => {
  console.log('line ' + line++);
  if (existsSync(process.argv[2])) process.exit(7);
}, 10);`;

describe('a detached run on Windows', () => {
  const workspace = new WindowsWorkspace();
  const counter = workspace.program('counter');
  const polite = workspace.program('polite');
  const script = workspace.script('counter', COUNTER);
  let config: string;
  let daemon: RunningProgram | undefined;
  let count = 0;
  let stop = '';

  before(async () => {
    const lasting = { allow: true, maxRuns: 8 };
    config = workspace.config([
      { path: counter, lasting },
      { path: polite, lasting, stopSignal: 'CTRL_BREAK' },
    ]);
    await startDaemon();
  });
  afterEach(async () => {
    workspace.write(stop, '');
    if (daemon === undefined) await startDaemon();
  });
  after(() => workspace.remove());

  async function startDaemon(): Promise<void> {
    daemon = workspace.start('srv', 'app', 'run', '--config', config);
    await daemon.said('"msg":"ready"');
  }
  async function killDaemon(): Promise<void> {
    daemon?.child.kill('SIGKILL');
    await daemon?.outcome;
    daemon = undefined;
  }
  const prc = (...args: string[]): Promise<Outcome> => workspace.client('prc', ...args).outcome;
  const follow = (...args: string[]): RunningProgram => workspace.client('prc', ...args);

  async function detach(): Promise<string> {
    stop = `stop ${(count += 1)}`;
    const started = await prc('run', '-d', '--path', counter, '--', script, workspace.path(stop));
    assert.deepEqual([started.code, started.stderr], [0, '']);
    return started.stdout.toString().trim();
  }
  async function pidOf(name: string): Promise<number> {
    const follower = follow('logs', '-f', name);
    await follower.printed('line 9\n');
    follower.child.kill('SIGKILL');
    return Number(follower.stdout().split('\n')[0]);
  }
  const folder = path.join(
    ...[process.env['ProgramData'] ?? 'C:\\ProgramData', 'rancher', 'wins', 'state'],
    ...[workspace.listen, 'lasting'],
  );
  const recordFiles = (): string[] =>
    existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('keeper.')) : [];
  /** The records that keepers have left. */
  const records = () =>
    recordFiles().map(
      (name) =>
        JSON.parse(readFileSync(path.join(folder, name), 'utf8')) as {
          readonly keeper: string;
          readonly socket: string;
        },
    );
  /** Their processes. */
  const keepers = (): number[] => records().map(({ keeper }) => Number.parseInt(keeper, 10));

  it('goes on while the daemon is killed, is adopted, and no byte of it is missing or there twice', async () => {
    const name = await detach();
    const pid = await pidOf(name);
    const follower = follow('logs', '-f', name);
    await follower.printed('line 20\n');
    await killDaemon();
    assert.ok(isAlive(pid));
    await startDaemon();
    // SYSTEM and administrators alone, as the pipe of administrators.
    const access = pipeAccess(`\\\\.\\pipe\\${records()[0]?.socket}`);
    const [found, wanted] = [access, ADMINISTRATORS_AND_SYSTEM].map(parseSecurityDescriptor);
    assert.ok(found !== undefined && wanted !== undefined && grantsTheSame(found, wanted), access);
    workspace.write(stop, '');
    const [{ stdout }, waited] = await Promise.all([follower.outcome, prc('wait', name)]);
    assert.equal(waited.code, 7);
    const text = stdout.toString();
    const lines = text.split('\n').slice(1, -1);
    assert.deepEqual(
      lines,
      lines.map((_, index) => `line ${index}`),
    );
    const rest = await prc('logs', name, '--offset', '7');
    assert.equal(rest.stdout.toString(), text.slice(7));
    assert.equal((await prc('rm', name)).code, 0);
    await until(() => keepers().length === 0);
  });

  it('that ends while there is no daemon is known to the next one, with its exit code', async () => {
    const name = await detach();
    const pid = await pidOf(name);
    await killDaemon();
    workspace.write(stop, '');
    await until(() => !isAlive(pid) && keepers().length === 0);
    await startDaemon();
    assert.equal((await prc('wait', name)).code, 7);
  });

  it('is asked to end by its keeper, which has no console', async () => {
    const handled = `process.on('SIGBREAK', () => process.exit(3));
      console.log('up'); setInterval(() => {}, 1e6);`;
    const name = 'polite';
    const started = await prc('run', '-d', '--name', name, '--path', polite, '--', '-e', handled);
    assert.equal(started.code, 0, started.stderr);
    const follower = follow('logs', '-f', name);
    await follower.printed('up');
    const waiting = follow('attach', name);
    const [waited, removed] = await Promise.all([waiting.outcome, prc('rm', name)]);
    assert.deepEqual([waited.code, removed.code], [3, 0], waited.stderr);
  });

  it('ends with its keeper, which is told, and the next one gets another keeper', async () => {
    const name = await detach();
    const pid = await pidOf(name);
    process.kill(keepers()[0] ?? 0, 'SIGKILL');
    const { code, stderr } = await prc('wait', name);
    assert.deepEqual([code, stderr], [137, `wins: ${name} was stopped: hostFailed\n`]);
    await until(() => !isAlive(pid));
    const next = await detach();
    workspace.write(stop, '');
    assert.equal((await prc('wait', next)).code, 7);
  });
});
