import type { TreeLimits } from '@wins/base';
import { posixProcessHost } from '@wins/linux-host';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ProcessError } from '../process-error.js';
import {
  codeOf,
  ManagerHarness,
  outputOf,
  realHost,
  requestFor,
} from '../testing/manager-harness.js';
import { checkAllowedExecutables } from './executable-policy.js';

const MIB = 1024 * 1024;

function hasCgroup(): boolean {
  try {
    return realHost().limitMeans?.({ pids: 8, memoryBytes: MIB, cpus: 1 }) === 'cgroup';
  } catch {
    return false;
  }
}

const withCgroup = hasCgroup() ? it : it.skip;
const withoutCgroup = hasCgroup() ? it.skip : it;

describe('the limits of a run', () => {
  let harness: ManagerHarness;
  beforeEach(() => {
    harness = new ManagerHarness();
  });
  afterEach(() => harness.close());

  const startWith = (asked: TreeLimits, entry: object = {}, source = 'exit 0') => {
    const program = harness.program('tool', source);
    const manager = harness.manager(['tool'], { allowed: [{ path: program.path, ...entry }] });
    return manager.start(requestFor(program, { limits: asked }));
  };
  const limitsOf = async (asked: TreeLimits, entry: object) => {
    const run = await startWith(asked, entry);
    await run.ended;
    return run.limits;
  };

  it('are those that the client asks for, up to those of the entry, and else those of the entry', async () => {
    const limits = { memoryBytes: 64 * MIB };
    const maxLimits = { memoryBytes: 128 * MIB };
    const entry = { limits, maxLimits };
    expect(await limitsOf({}, entry)).toMatchObject(limits);
    expect(await limitsOf({}, { maxLimits })).toMatchObject(maxLimits);
    expect(await limitsOf(maxLimits, entry)).toMatchObject(maxLimits);
    expect(await limitsOf(limits, {})).toMatchObject(limits);
    expect(await limitsOf({}, {})).toBeUndefined();
    const tooMuch = { memoryBytes: 128 * MIB + 1 };
    expect(await codeOf(startWith(tooMuch, entry))).toBe('limitsNotAllowed');
    expect(await codeOf(startWith({ memoryBytes: 65 * MIB }, { limits }))).toBe('limitsNotAllowed');
    expect(harness.decisions.at(-1)).toMatchObject({ rule: 'A118 limits not allowed' });
  });

  it.each([
    { memoryBytes: 1 },
    { memoryBytes: 2 * MIB + 0.5 },
    { cpus: 0 },
    { cpus: NaN },
    { pids: -1 },
  ])('are refused when they cannot be: %j', async (asked) => {
    expect(await codeOf(startWith(asked))).toBe('invalidArgument');
  });

  it('make an entry faulty whose runs would get more than its clients may ask for', () => {
    const entry = { path: '/opt/tool', limits: { pids: 9 }, maxLimits: { pids: 8 } };
    expect(checkAllowedExecutables([entry], 'posix')).toMatchObject([
      { neverMatches: true, found: 'its "limits" has more processes than its "maxLimits"' },
    ]);
  });

  it('apply from the first instruction of the program, and are shown in the audit record and by the run', async () => {
    const run = await startWith({ memoryBytes: 64 * MIB }, {}, 'ulimit -d; cat /proc/self/cgroup');
    const { stdout } = await outputOf(run);
    const means = hasCgroup() ? 'cgroup' : 'rlimit';
    expect(stdout).toMatch(
      means === 'cgroup' ? `/wins-run-${process.pid}-${run.mark}\n` : /^65536\n/,
    );
    expect(run.limits).toEqual({ memoryBytes: 64 * MIB, means });
    const limits = `memoryBytes=${64 * MIB} by=${means}`;
    expect(harness.decisions[0]).toMatchObject({ action: 'start', verdict: 'allowed', limits });
  });

  it('change nothing else of a program: its arguments, variables, folder, output and exit code', async () => {
    const script = `printf '%s|' "$0" "$@" "$WORD" "$PWD"; echo oops >&2; exit 7`;
    const program = harness.program('tool', script);
    const allowed = [{ path: program.path, envs: ['WORD'] }];
    const manager = harness.manager(['tool'], { allowed });
    const limits = { memoryBytes: 64 * MIB };
    const args = ['a b', '', '$HOME', '-c', ';'];
    const envs = ['WORD=$(false) ü'];
    const run = await manager.start(requestFor(program, { args, envs, limits }));
    const { stdout, stderr } = await outputOf(run);
    const said = [run.stagedPath, ...args, '$(false) ü', harness.programs];
    expect([Buffer.from(stdout, 'latin1').toString(), stderr]).toEqual([
      `${said.join('|')}|`,
      'oops\n',
    ]);
    expect(await run.ended).toEqual({ code: 7, reason: 'exited' });
  });

  it('refuse input that their starter would change or could not pass on, before anything runs', async () => {
    const limits = { memoryBytes: 64 * MIB };
    expect(await codeOf(startWith(limits, { argv0: 'listed' }))).toBe('limitsUnavailable');
    const program = harness.program('tool', 'exit 0');
    const manager = harness.manager(['tool'], {
      allowed: [{ path: program.path, envs: ['BASH_FUNC_exec%%'] }],
    });
    const envs = ['BASH_FUNC_exec%%=() { :; }'];
    const started = manager.start(requestFor(program, { envs, limits }));
    expect(await codeOf(started)).toBe('invalidArgument');
  });

  withoutCgroup('keep a process from more memory than it may have', async () => {
    const source = `head -c ${256 * MIB} /dev/zero | tail -c ${200 * MIB}`;
    const run = await startWith({ memoryBytes: 32 * MIB }, {}, `${source} | wc -c`);
    const { stdout, stderr } = await outputOf(run);
    expect([stdout, stderr]).toEqual(['0\n', expect.stringContaining('memory exhausted')]);
  });

  withoutCgroup.each([{ cpus: 0.5 }, { pids: 8 }, { memoryBytes: 64 * MIB, pids: 8 }])(
    'refuse a run where they cannot be enforced: %j',
    async (asked) => {
      expect(await codeOf(startWith(asked))).toBe('limitsUnavailable');
      expect(await codeOf(startWith({}, { limits: asked }))).toBe('limitsUnavailable');
    },
  );

  withCgroup('end a whole run that reaches its limit of memory, and say so', async () => {
    const source = `sleep 1000 & head -c ${256 * MIB} /dev/zero | tail -c ${200 * MIB}`;
    const run = await startWith({ memoryBytes: 32 * MIB, pids: 64 }, {}, source);
    expect(await run.ended).toMatchObject({ code: 137, signal: 'SIGKILL', reason: 'outOfMemory' });
  });

  withCgroup('keep a run from more processes than it may have', async () => {
    const run = await startWith({ pids: 3 }, {}, 'sleep 9 & sleep 9 & sleep 9 & sleep 9 & exit 0');
    expect((await outputOf(run)).stderr).toMatch(/fork/);
  });

  it('refuse the run when the cgroup that should enforce them cannot be made', async () => {
    const cgroup = path.join(harness.directory.path, 'no-cgroup');
    mkdirSync(cgroup);
    for (const file of ['controllers', 'subtree_control'])
      writeFileSync(path.join(cgroup, `cgroup.${file}`), 'cpu memory pids\n');
    const failure = (...facts: ConstructorParameters<typeof ProcessError>) =>
      new ProcessError(...facts);
    const host = posixProcessHost({ failure, cgroup });
    const program = harness.program('tool', 'echo run');
    const manager = harness.manager(['tool'], { host });
    const started = manager.start(requestFor(program, { limits: { pids: 8 } }));
    await expect(started).rejects.toMatchObject({ code: 'limitsUnavailable' });
    expect(harness.events).toMatchObject([{ type: 'startFailed' }]);
  });
});
