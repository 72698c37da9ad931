import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { realpathSync } from 'node:fs';
import { LinuxProcessEntry } from './linux-process-entry.js';
import { posixProcessHost } from './posix-process-host.js';

const SLEEP = realpathSync('/bin/sleep');

describe('a search for leftovers', () => {
  const host = posixProcessHost();
  let children: ChildProcess[] = [];

  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    children = [];
  });

  function startSleep(env: NodeJS.ProcessEnv = {}): void {
    children.push(spawn(SLEEP, ['1000'], { env, stdio: 'ignore' }));
  }

  it('gives others a turn after each few environments, whose sizes others choose', async () => {
    for (let count = 0; count < 20; count += 1) startSleep();
    let turns = 0;
    let isLooking = true;
    const count = (): void => {
      turns += 1;
      if (isLooking) setImmediate(count);
    };
    setImmediate(count);
    const readsMark = jest.spyOn(LinuxProcessEntry.prototype, 'marker', 'get');
    await host.findLeftovers({ executables: [], remembered: [], lineage: 'ab'.repeat(8) });
    isLooking = false;
    const reads = readsMark.mock.calls.length;
    readsMark.mockRestore();
    expect(reads).toBeGreaterThanOrEqual(20);
    expect(turns).toBeGreaterThanOrEqual(Math.floor(reads / 4));
  });

  it('for a program alone looks into no environment', async () => {
    startSleep({ RANCHER_WINS_RUN: `${'ab'.repeat(16)}:${'ab'.repeat(8)}:1:1.1.x` });
    const readsMark = jest.spyOn(LinuxProcessEntry.prototype, 'marker', 'get');
    await host.findLeftovers({ executables: ['/nowhere/rancher-wins-tool'], remembered: [] });
    expect(readsMark).not.toHaveBeenCalled();
    readsMark.mockRestore();
  });

  it('finds what a recorded process has started, although it has ended itself', async () => {
    const [mark, living] = ['ef'.repeat(16), 'fe'.repeat(16)];
    startSleep({ RANCHER_WINS_RUN: `${mark}:${'ab'.repeat(8)}:1:1.1.x` });
    startSleep({ RANCHER_WINS_RUN: `${living}:${'ab'.repeat(8)}:${host.daemon}` });
    await Promise.all(children.map((child) => once(child, 'spawn')));
    // No process has this PID.
    const remembered = [mark, living].map((each) => ({
      mark: each,
      pid: 2 ** 22 + 1,
      startToken: '1.x',
    }));
    const found = await host.findLeftovers({ executables: [], remembered });
    expect(found).toMatchObject([{ pid: children[0]?.pid, evidence: 'record', mark }]);
  });

  it('never finds the daemon itself or what started it', async () => {
    const found = await host.findLeftovers({ executables: [process.execPath], remembered: [] });
    const pids = found.map(({ pid }) => pid);
    expect(pids).not.toContain(process.pid);
    expect(pids).not.toContain(process.ppid);
  });
});
