import { errnoOf, type HostProcess, type TreeLimits } from '@wins/base';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { posixProcessHost } from './posix-process-host.js';

/** Undefined when this user may not create a cgroup. */
function ownCgroup(): string | undefined {
  const [, mountPoint] =
    /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(readFileSync('/proc/self/mountinfo', 'latin1')) ??
    [];
  try {
    return mountPoint === undefined ? undefined : mkdtempSync(path.join(mountPoint, 'wins-spec-'));
  } catch (error) {
    if (['EACCES', 'EROFS', 'EPERM'].includes(errnoOf(error) ?? '')) return undefined;
    throw error;
  }
}

const cgroup = ownCgroup();
const withCgroup = cgroup === undefined ? describe.skip : describe;

withCgroup('a program in a cgroup of its own', () => {
  const folder = cgroup ?? '';
  afterAll(() => rmdirSync(folder));

  const start = (script: string, limits: TreeLimits = {}): Promise<HostProcess> =>
    posixProcessHost({ cgroup: folder }).start({
      mark: 'ab'.repeat(16),
      lineage: 'cd'.repeat(8),
      env: { PATH: '/usr/bin:/bin' },
      file: '/bin/sh',
      argv0: '/bin/sh',
      args: ['-c', script],
      directory: '/',
      limits,
    });
  const toEnd = async (run: HostProcess): Promise<void> => {
    await run.terminate('force');
    while (!(await run.isGone())) await nextTurn();
    run.close();
  };

  it('is in it from its first instruction, and the cgroup goes with it', async () => {
    const run = await start('cat /proc/self/cgroup; exit 7');
    const own = `${path.basename(folder)}/wins-run-${process.pid}-${'ab'.repeat(16)}`;
    expect(await text(run.stdout)).toContain(`0::/${own}\n`);
    expect(await run.exited).toEqual({ code: 7 });
    await toEnd(run);
    expect(readdirSync(folder).filter((name) => name.startsWith('wins-run-'))).toEqual([]);
  });

  it('is ended with processes that have left its session, environment and parent', async () => {
    const run = await start('(setsid env -i sleep 1000 &) ; echo up; exit 0');
    await run.exited;
    expect(await run.isGone()).toBe(false);
    await toEnd(run);
    expect(readdirSync(folder).filter((name) => name.startsWith('wins-run-'))).toEqual([]);
  });

  it('leaves nothing behind when it cannot be started, and takes away what an earlier daemon left', async () => {
    mkdirSync(path.join(folder, 'wins-run-earlier'));
    const args = { memoryBytes: 2 ** 20, pids: 0.5 };
    await expect(start('exit 0', args)).rejects.toThrow();
    const run = await start('exit 0');
    await run.exited;
    await toEnd(run);
    expect(readdirSync(folder).filter((name) => name.startsWith('wins-run-'))).toEqual([]);
  });
});
