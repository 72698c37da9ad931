import { createHash } from 'node:crypto';
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import path from 'node:path';

import { posixProcessHost } from '@wins/linux-host';
import type { ProcessManager } from '../process-manager.js';
import { findOrphans } from './end-leftovers.js';
import {
  codeOf,
  isRunning,
  ManagerHarness,
  requestFor,
  statOf,
  TestOwner,
  untilOutput,
} from '../testing/manager-harness.js';

const SLEEP = realpathSync('/bin/sleep');
const RUN_ID = '0123456789abcdef'.repeat(2);

const UNSHARE = '/usr/bin/unshare';
/** Some systems do not let unprivileged users create a mount namespace. */
const OWN_MOUNTS = ['--user', '--map-root-user', '--mount'];
const mayHaveMounts = spawnSync(UNSHARE, [...OWN_MOUNTS, '/bin/true']).status === 0;
if (!mayHaveMounts)
  process.stderr.write('SKIPPED: a copy among other mounts, since this user may have none\n');
const itAmongOtherMounts = mayHaveMounts ? it : it.skip;

const lineageOf = (directory: string): string =>
  createHash('sha256').update(directory).digest('hex').slice(0, 16);

describe('what earlier daemons left', () => {
  const host = posixProcessHost();
  let harness: ManagerHarness;
  let children: ChildProcess[];
  let deadDaemon: string;

  beforeEach(async () => {
    harness = new ManagerHarness();
    children = [];
    const daemon = spawnProcess(SLEEP, ['0']);
    deadDaemon = `${daemon.pid}:${tokenOf(daemon.pid)}`;
    if (daemon.child.exitCode === null) await once(daemon.child, 'exit');
  });

  afterEach(async () => {
    for (const child of children) child.kill('SIGKILL');
    await harness.close();
  });

  function spawnProcess(file: string, args: string[], env: NodeJS.ProcessEnv = {}) {
    const child = spawn(file, args, { detached: true, env, stdio: ['ignore', 'pipe', 'ignore'] });
    children.push(child);
    return { child, pid: child.pid ?? 0 };
  }

  function tokenOf(pid: number): string {
    return `${statOf(pid)?.startTicks ?? '0'}${host.daemon.slice(host.daemon.indexOf('.'))}`;
  }

  /** Returns only `pids`, because other programs on this machine may have leftovers, too. */
  async function recovered(manager: ProcessManager, ...pids: number[]) {
    return (await manager.recover()).filter(({ pid }) => pids.includes(pid));
  }

  function markedBy(daemon: string, lineage = lineageOf(harness.stateDirectory)) {
    return { RANCHER_WINS_RUN: `${RUN_ID}:${lineage}:${daemon}` };
  }

  function writeRecord(fields: object, mark = RUN_ID): string {
    const run = { mark, name: 'rancher-wins-tool', path: '/opt/tool' };
    const record = { version: 1, supervisor: deadDaemon, run };
    const file = recordFile(mark);
    writeFileSync(file, JSON.stringify({ ...record, ...fields }));
    return file;
  }

  function recordFile(mark: string): string {
    mkdirSync(path.join(harness.runs, mark), { recursive: true });
    return path.join(harness.runs, mark, 'run.json');
  }

  it('is ended by the mark of a dead daemon, and told', async () => {
    const { pid } = spawnProcess(SLEEP, ['1000'], markedBy(deadDaemon));
    const manager = harness.manager([]);
    await expect(recovered(manager, pid)).resolves.toEqual([
      { pid, evidence: 'marker', mark: RUN_ID },
    ]);
    expect(isRunning(pid)).toBe(false);
    expect(harness.events).toContainEqual(
      expect.objectContaining({ type: 'leftoverEnded', pid, mark: RUN_ID }),
    );
    await expect(recovered(manager, pid)).resolves.toEqual([]);
  });

  it('is found by its mark, record and copy without being touched', async () => {
    const missing = path.join(harness.directory.path, 'missing');
    const marked = spawnProcess(SLEEP, ['1000'], markedBy(deadDaemon, lineageOf(missing)));
    const tool = path.join(harness.programs, 'tool');
    const staged = path.join(harness.programs, 'rancher-wins-tool');
    copyFileSync(SLEEP, staged);
    const copied = spawnProcess(staged, ['1000']);
    const allowed = [{ path: tool }, { path: 'no path' }];
    const found = await findOrphans({ allowed, stateDirectory: missing, host });
    expect(found.filter(({ pid }) => [marked.pid, copied.pid].includes(pid))).toEqual([
      expect.objectContaining({ pid: marked.pid, evidence: 'marker' }),
      expect.objectContaining({ pid: copied.pid, evidence: 'executable' }),
    ]);
    expect(existsSync(missing)).toBe(false);

    harness.manager([]);
    const recorded = spawnProcess(SLEEP, ['1000']);
    const file = writeRecord({ pid: recorded.pid, startToken: tokenOf(recorded.pid) });
    const torn = recordFile('e'.repeat(32));
    writeFileSync(torn, '{');
    const { stateDirectory } = harness;
    const remembered = await findOrphans({ allowed: [], stateDirectory, host });
    expect(remembered).toContainEqual(
      expect.objectContaining({ pid: recorded.pid, evidence: 'record', path: '/opt/tool' }),
    );
    const pids = [marked.pid, copied.pid, recorded.pid];
    expect(pids.filter((pid) => isRunning(pid))).toEqual(pids);
    expect([file, torn].filter((record) => existsSync(record))).toEqual([file, torn]);
  });

  it('is no orphan while its daemon lives', async () => {
    const staged = path.join(harness.programs, 'rancher-wins-tool');
    copyFileSync(SLEEP, staged);
    const daemon = spawnProcess(SLEEP, ['1000']);
    const { pid } = spawnProcess(
      staged,
      ['1000'],
      markedBy(`${daemon.pid}:${tokenOf(daemon.pid)}`),
    );
    const found = await findOrphans({
      allowed: [{ path: path.join(harness.programs, 'tool') }],
      stateDirectory: harness.stateDirectory,
      host,
    });
    expect(found.filter((orphan) => orphan.pid === pid)).toEqual([]);
  });

  it('is killed when it ignores the request', async () => {
    const { child, pid } = spawnProcess(
      '/bin/sh',
      ['-c', 'trap "" TERM; echo ready; while :; do sleep 1; done'],
      markedBy(deadDaemon),
    );
    await once(child.stdout, 'data');
    await harness.manager([], { graceMs: 50 }).recover();
    expect(isRunning(pid)).toBe(false);
  });

  it('is left alone when it carries the mark of a daemon that lives (F24)', async () => {
    const daemon = spawnProcess(SLEEP, ['1000']);
    const env = markedBy(`${daemon.pid}:${tokenOf(daemon.pid)}`);
    const { pid } = spawnProcess(SLEEP, ['1000'], env);
    await expect(recovered(harness.manager([]), pid)).resolves.toEqual([]);
    expect(isRunning(pid)).toBe(true);
  });

  it('is left alone when it carries the mark of another line of daemons', async () => {
    const { pid } = spawnProcess(SLEEP, ['1000'], markedBy(deadDaemon, '0123456789abcdef'));
    await expect(recovered(harness.manager([]), pid)).resolves.toEqual([]);
    expect(isRunning(pid)).toBe(true);
  });

  it('is left alone when its daemon lives in a PID namespace that cannot be seen from here', async () => {
    const elsewhere = deadDaemon.replace(/\.\d+\./, '.1.');
    const { pid } = spawnProcess(SLEEP, ['1000'], markedBy(elsewhere));
    await expect(recovered(harness.manager([]), pid)).resolves.toEqual([]);
    expect(isRunning(pid)).toBe(true);
  });

  it('is ended with its whole session by a record whose PID and start time match', async () => {
    const manager = harness.manager([]);
    const { child, pid } = spawnProcess('/bin/sh', ['-c', 'sleep 1000 & echo $!; wait']);
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    const grandchild = Number(String(line));
    const file = writeRecord({ pid, startToken: tokenOf(pid) });
    const told = await recovered(manager, pid, grandchild);
    expect(told).toHaveLength(2);
    expect(told).toContainEqual({
      pid,
      evidence: 'record',
      mark: RUN_ID,
      name: 'rancher-wins-tool',
      path: '/opt/tool',
    });
    expect([pid, grandchild].filter((one) => isRunning(one))).toEqual([]);
    expect(existsSync(file)).toBe(false);
  });

  it('is never a process that has the recorded PID but another start time or boot (F16)', async () => {
    const manager = harness.manager([]);
    const { pid } = spawnProcess(SLEEP, ['1000']);
    writeRecord({ pid, startToken: tokenOf(pid).replace(/^\d+/, '17') });
    writeRecord({ pid, startToken: `${tokenOf(pid)}x` }, 'f'.repeat(32));
    await expect(recovered(manager, pid)).resolves.toEqual([]);
    expect(isRunning(pid)).toBe(true);
    expect(readdirSync(harness.runs)).toEqual([]);
  });

  it('is not what a daemon that lives has recorded', async () => {
    const manager = harness.manager([]);
    const daemon = spawnProcess(SLEEP, ['1000']);
    const { pid } = spawnProcess(SLEEP, ['1000']);
    const living = `${daemon.pid}:${tokenOf(daemon.pid)}`;
    const file = writeRecord({ pid, startToken: tokenOf(pid), supervisor: living });
    await expect(recovered(manager, pid)).resolves.toEqual([]);
    expect([isRunning(pid), existsSync(file)]).toEqual([true, true]);
  });

  it('is ended by the verified copy that it runs, at recovery and before a start', async () => {
    const program = harness.program('tool', 'echo ready; exec sleep 1000');
    const staged = path.join(harness.programs, 'rancher-wins-tool');
    const manager = harness.manager(['tool']);
    copyFileSync(SLEEP, staged);
    const first = spawnProcess(staged, ['1000']);
    await expect(recovered(manager, first.pid)).resolves.toMatchObject([
      { pid: first.pid, evidence: 'executable' },
    ]);
    const second = spawnProcess(staged, ['1000']);
    const run = await manager.start(requestFor(program));
    expect([first.pid, second.pid].filter((pid) => isRunning(pid))).toEqual([]);
    expect(run.state.kind).toBe('running');
  });

  it('keeps a start from going on while a living daemon runs the same copy (F24)', async () => {
    const program = harness.program('tool', 'exit 0');
    const staged = path.join(harness.programs, 'rancher-wins-tool');
    copyFileSync(SLEEP, staged);
    const daemon = spawnProcess(SLEEP, ['1000']);
    const living = markedBy(`${daemon.pid}:${tokenOf(daemon.pid)}`);
    const { pid } = spawnProcess(staged, ['1000'], living);
    const manager = harness.manager(['tool']);
    await manager.recover();
    await expect(codeOf(manager.start(requestFor(program)))).resolves.toBe('alreadyRunning');
    expect(isRunning(pid)).toBe(true);
  });

  itAmongOtherMounts.each([
    ['no mark', () => ({})],
    ['the mark of a daemon that lives', (living: string) => markedBy(living)],
  ])(
    'is not what runs from the path of the copy among mounts of its own, with %s',
    async (_mark, envOf) => {
      const program = harness.program('tool', 'exit 0');
      const staged = path.join(harness.programs, 'rancher-wins-tool');
      const daemon = spawnProcess(SLEEP, ['1000']);
      const script = `mount -t tmpfs tmpfs "$1" && cp /bin/sh "$2" && exec "$2" -c 'echo ready; kill -STOP $$'`;
      const { child, pid } = spawnProcess(
        UNSHARE,
        [...OWN_MOUNTS, '/bin/sh', '-c', script, 'sh', harness.programs, staged],
        { ...envOf(`${daemon.pid}:${tokenOf(daemon.pid)}`), PATH: '/usr/sbin:/sbin:/usr/bin:/bin' },
      );
      await once(child.stdout, 'data');
      const manager = harness.manager(['tool']);
      await expect(recovered(manager, pid)).resolves.toEqual([]);
      const run = await manager.start(requestFor(program));
      await expect(run.ended).resolves.toMatchObject({ code: 0 });
      expect(isRunning(pid)).toBe(true);
    },
  );

  it('is nothing of another manager that lives, even in this process and directory', async () => {
    const program = harness.program('tool', 'echo ready; exec sleep 1000');
    const owner = new TestOwner();
    const run = await harness.manager(['tool']).start(requestFor(program, { owner }));
    await untilOutput(run.read('pipe:1'), 'ready');
    await expect(recovered(harness.manager(['tool']), run.pid)).resolves.toEqual([]);
    expect(run.state.kind).toBe('running');
    expect(readdirSync(harness.runs)).toEqual([run.mark]);
  });

  it('keeps a record that the system does not let it read', async () => {
    const manager = harness.manager([]);
    const file = recordFile('a'.repeat(32));
    // Not even root can open a socket as a file.
    const server = createServer().listen(file);
    await once(server, 'listening');
    await manager.recover();
    expect(harness.events).toMatchObject([{ type: 'recordIgnored', file }]);
    expect(existsSync(file)).toBe(true);
    server.close();
    await once(server, 'close');
  });

  it('ignores and removes records that are not ours, and touches no other file', async () => {
    const manager = harness.manager([]);
    const victim = path.join(harness.directory.path, 'victim');
    writeFileSync(victim, '{}');
    const files = ['a', 'b', 'c', 'd', 'e', 'f'].map((digit) => recordFile(digit.repeat(32)));
    const [garbage = '', huge = '', link = '', directory = '', wrong = '', other = ''] = files;
    writeFileSync(garbage, '\0{{{');
    writeFileSync(huge, Buffer.alloc(65 * 1024, ' '));
    symlinkSync(victim, link);
    mkdirSync(directory);
    writeFileSync(wrong, JSON.stringify({ mark: RUN_ID, pid: 1, startToken: 'x' }));
    const run = { mark: RUN_ID, name: 'n', path: '/p' };
    const record = { version: 1, supervisor: deadDaemon, pid: 2, startToken: 'x', run };
    writeFileSync(other, JSON.stringify(record));
    writeFileSync(path.join(harness.runs, 'README'), 'hello');
    const output = path.join(path.dirname(garbage), 'output');
    writeFileSync(output, 'of a detached run');
    await manager.recover();
    const ignored = harness.events.flatMap((e) => (e.type === 'recordIgnored' ? [e.file] : []));
    expect(ignored.sort()).toEqual(files);
    expect(existsSync(victim)).toBe(true);
    expect(files.filter((file) => existsSync(file))).toEqual([]);
    expect(existsSync(output)).toBe(true);
    expect(readdirSync(harness.runs).sort()).toEqual(['README', 'a'.repeat(32)]);
  });
});
