import { errnoOf, type HostProcess, type TreeLimits } from '@wins/base';
import { buildSync } from 'esbuild';
import { execFileSync } from 'node:child_process';
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

/** Prints the reasons why runs cannot have limits: while no file descriptor is free, afterwards, and of an object that was made afterwards. */
const WITHOUT_DESCRIPTORS = `
  import fs from 'node:fs';
  import { RunCgroups } from './run-cgroups.ts';
  const cgroups = new RunCgroups();
  const whyNot = (of) => of.whyNot({}) ?? 'none';
  const open = [];
  try {
    for (;;) open.push(fs.openSync('/dev/null'));
  } catch {}
  const without = whyNot(cgroups);
  for (const descriptor of open) fs.closeSync(descriptor);
  console.log(JSON.stringify([without, whyNot(cgroups), whyNot(new RunCgroups())]));
`;

it('is looked up again after no file descriptor was free for the first run with limits', () => {
  const { outputFiles } = buildSync({
    stdin: { contents: WITHOUT_DESCRIPTORS, resolveDir: __dirname },
    bundle: true,
    write: false,
    platform: 'node',
    conditions: ['@wins/source'],
  });
  const input = outputFiles[0]?.text ?? '';
  const script = 'ulimit -n 64; exec "$0" -';
  const said = execFileSync('/bin/sh', ['-c', script, process.execPath], { input });
  const [without, after, anew] = JSON.parse(String(said)) as string[];
  expect(without).toBe('this system has no cgroup v2');
  expect(after).toBe(anew);
});

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
