import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { createApplier } from './create-applier.js';
import { posixPlanFiles } from './plan-files.js';
import { ApplierHarness, shell } from '../testing/applier-harness.js';
import { onSmallDisk } from '../testing/small-disk-harness.js';

const never = new AbortController().signal;
const own = { uid: process.getuid?.(), gid: process.getgid?.() };
const onLinux = process.platform === 'linux' ? it : it.skip;
if (onLinux === it.skip)
  process.stderr.write('SKIPPED: a group of a hundred children, which /proc of Linux lists\n');
let harness: ApplierHarness;

beforeEach(() => (harness = new ApplierHarness()));
afterEach(() => harness.close());

describe('a pass that applies', () => {
  it('makes files, then runs instructions, and saves what the named ones wrote to stdout', async () => {
    const file = harness.path('files', 'a');
    const pass = harness.pass({
      files: [{ path: file, content: 'aGVsbG8=', ...own }],
      instructions: [
        shell('first', `cat ${file}; echo lost >&2`),
        shell('silent', 'true'),
        shell('unsaved', 'echo x', { saveOutput: false }),
        shell('', 'echo nameless'),
      ],
    });
    const result = await harness.applier.apply(pass, { signal: never });
    expect(result).toEqual({
      succeeded: true,
      outputs: { first: Buffer.from('hello'), silent: null },
      periodic: {},
      probes: {},
    });
    expect(harness.warnings()).toEqual([
      'the output of instruction 3 is not saved: it has no name',
    ]);
    expect(harness.events.at(-1)).toMatchObject({ kind: 'passEnded', succeeded: true });
    expect(harness.list('work')).toEqual([]);
  });

  it('tells how long it took, also when the clock is set meanwhile', async () => {
    let nowMs = harness.clock.now().getTime();
    harness.clock.now = () => new Date((nowMs -= 3_600_000));
    const pass = harness.pass({ instructions: [shell('a', 'true')] });
    await harness.applier.apply(pass, { signal: never });
    expect(harness.events.at(-1)).toMatchObject({ kind: 'passEnded', durationMs: 0 });
  });

  it('stops at the first instruction that fails, saves its output, and still runs periodic ones', async () => {
    const pass = harness.pass(
      {
        instructions: [shell('a', 'echo a; echo why >&2; exit 3'), shell('b', 'echo b')],
        periodicInstructions: [shell('p', 'echo p')],
      },
      { outputs: { old: Buffer.from('kept') } },
    );
    const result = await harness.applier.apply(pass, { signal: never });
    expect(result.succeeded).toBe(false);
    expect(result.outputs).toEqual({ old: Buffer.from('kept'), a: Buffer.from('a\n') });
    expect(result.periodic['p']?.stdout).toEqual(Buffer.from('p\n'));
    expect(harness.events).toContainEqual({
      kind: 'instructionEnded',
      source: 'remote',
      checksum: pass.checksum,
      instruction: 'a',
      exitCode: 3,
      stderrEnd: 'why\n',
    });
  });

  it.each([
    ['is not there', { command: '/no/such/program' }, 'ENOENT'],
    ['is not in the PATH of the agent', { command: 'no-such-program' }, 'no such program'],
    ['has no command, and its folder no run.sh', {}, 'ENOENT'],
    ['needs an image that cannot be had', { command: '/bin/true', image: 'x' }, 'no images'],
  ])('counts a program that %s as failed', async (_, instruction, why) => {
    const pass = harness.pass({ instructions: [{ name: 'x', saveOutput: true, ...instruction }] });
    const result = await harness.applier.apply(pass, { signal: never });
    expect(result).toMatchObject({ succeeded: false, outputs: { x: null } });
    const ended = harness.events.find((event) => event.kind === 'instructionEnded');
    expect(ended).toMatchObject({ exitCode: -1 });
    expect(String(ended?.error)).toContain(why);
  });

  it('counts a program that a signal ended as failed', async () => {
    const pass = harness.pass({ instructions: [shell('x', 'echo x; kill -9 $$')] });
    const result = await harness.applier.apply(pass, { signal: never });
    expect(result).toMatchObject({ succeeded: false, outputs: { x: Buffer.from('x\n') } });
    expect(harness.events).toContainEqual(expect.objectContaining({ exitCode: -1 }));
  });

  it('gives an instruction its folder, its attempt and the PATH with the folder at its end', async () => {
    const script =
      'pwd; echo "$CATTLE_AGENT_EXECUTION_PWD"; echo "$CATTLE_AGENT_ATTEMPT_NUMBER $PATH"';
    const env = ['PATH=/only/plan', 'CATTLE_AGENT_ATTEMPT_NUMBER=77'];
    const pass = harness.pass(
      { instructions: [shell('a', script, { env })], periodicInstructions: [shell('p', 'pwd')] },
      { oneTime: { attempt: 4 } },
    );
    const { outputs, periodic } = await harness.applier.apply(pass, { signal: never });
    const folder = harness.path('work', '20261122-003101', pass.checksum);
    expect(outputs['a']?.toString()).toBe(
      `${folder}_0\n${folder}_0\n4 /usr/bin:/bin:${folder}_0\n`,
    );
    expect(periodic['p']?.stdout?.toString()).toBe(`${folder}_periodic_0\n`);
  });

  it('runs what an image put into the folder', async () => {
    harness.close();
    harness = new ApplierHarness({
      images: {
        unpack: (reference, folder) => {
          writeFileSync(path.join(folder, 'run.sh'), `#!/bin/sh\necho ${reference}`, {
            mode: 0o700,
          });
          return Promise.resolve();
        },
      },
    });
    const pass = harness.pass({
      instructions: [{ name: 'i', image: 'an/image', saveOutput: true }],
    });
    const { outputs } = await harness.applier.apply(pass, { signal: never });
    expect(outputs['i']?.toString()).toBe('an/image\n');
  });

  it('keeps outputs byte for byte, and both streams whole in a private file', async () => {
    const script = "printf 'a\\377\\r\\n\\000z'; printf 'err' >&2";
    const pass = harness.pass({ instructions: [shell('bin', script)] });
    const { outputs } = await harness.applier.apply(pass, { signal: never });
    expect(outputs['bin']).toEqual(Buffer.from('a\xff\r\n\0z', 'latin1'));
    const [name = ''] = harness.list('state', 'outputs');
    expect(name).toMatch(
      new RegExp(`^20261122-003101-${pass.checksum.slice(0, 12)}-0-[0-9a-f]{8}\\.out$`),
    );
    const file = harness.path('state', 'outputs', name);
    const wanted = Buffer.from('a\xff\r\n\0zerr', 'latin1');
    expect(readFileSync(file).sort()).toEqual(wanted.sort());
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(path.dirname(file)).mode & 0o777).toBe(0o700);
  });

  it('never makes a program wait that writes more than is kept', async () => {
    const pass = harness.pass({
      instructions: [shell('big', 'echo first; head -c 3000000 /dev/zero; echo; echo last')],
    });
    const { succeeded, outputs } = await harness.applier.apply(pass, { signal: never });
    const text = outputs['big']?.toString('latin1') ?? '';
    expect(succeeded).toBe(true);
    expect(text.slice(0, 8)).toBe('first\n\0\0');
    expect(text.slice(-6)).toBe('\nlast\n');
    const leftOut = 3_000_012 - 512 * 1024;
    expect(text).toContain(`\n[wins: ${leftOut} bytes are omitted here;`);
    const [name = ''] = harness.list('state', 'outputs');
    expect(statSync(harness.path('state', 'outputs', name)).size).toBe(3_000_012);
  });

  it('waits until all that hold the outputs have closed them', async () => {
    const script = '(while kill -0 $$ 2>/dev/null; do :; done; echo late) & echo early';
    const pass = harness.pass({ instructions: [shell('x', script)] });
    const { outputs } = await harness.applier.apply(pass, { signal: never });
    expect(outputs['x']?.toString()).toBe('early\nlate\n');
  });

  it('goes on when an instruction removes the work folder', async () => {
    const pass = harness.pass({
      instructions: [shell('a', `rm -rf ${harness.path('work')}`), shell('b', 'echo b')],
    });
    const { succeeded, outputs } = await harness.applier.apply(pass, { signal: never });
    expect(succeeded).toBe(true);
    expect(outputs['b']?.toString()).toBe('b\n');
    expect(harness.warnings()).toEqual([]);
  });

  it('applies 1,000 files and 100 instructions', async () => {
    const files = Array.from({ length: 1000 }, (_, index) => ({
      path: harness.path('files', `${index % 10}`, `${index}`),
      content: Buffer.from(`${index}`).toString('base64'),
      ...own,
    }));
    const instructions = Array.from({ length: 100 }, () => ({ command: '/bin/true' }));
    const result = await harness.applier.apply(harness.pass({ files, instructions }), {
      signal: never,
    });
    expect(result.succeeded).toBe(true);
    expect(harness.read('files', '9', '999')).toBe('999');
    expect(harness.actions).toHaveLength(1100);
    expect(harness.list('state', 'outputs')).toEqual([]);
  });
});

describe('the record of an action', () => {
  it('comes before the action, and tells nothing of its content', async () => {
    const file = harness.path('files', 'a');
    const seen: boolean[] = [];
    const before = harness.options.onAction;
    harness.close();
    harness = new ApplierHarness({
      onAction: (action) => {
        seen.push(existsSync(file));
        return before(action);
      },
    });
    const pass = harness.pass({
      files: [
        { path: file, content: 'Y2FuYXJ5', ...own },
        { path: file, action: 'delete' },
      ],
      instructions: [shell('a', `echo canary > ${file}`, { env: ['TOKEN=canary'] })],
      periodicInstructions: [{ name: 'p', command: 'true' }],
    });
    await harness.applier.apply(pass, { signal: never });
    // The applier reports both the write and the deletion to `onAction` before it does either of them.
    expect(seen).toEqual([false, false, false, true]);
    expect(JSON.stringify(harness.events)).not.toContain('canary');
  });

  it('is asked for in one turn for up to 100 files, before the first of them is touched', async () => {
    const groups: { size: number; had: number }[] = [];
    let turn: (() => void) | undefined;
    harness.close();
    harness = new ApplierHarness({
      onAction: () => {
        if (turn === undefined) {
          const group = { size: 0, had: harness.list('files').length };
          groups.push(group);
          turn = () => (group.size += 1);
          setImmediate(() => (turn = undefined));
        }
        turn();
        return new Promise((resolve) => setImmediate(resolve));
      },
    });
    const files = Array.from({ length: 250 }, (_, index) => ({
      path: harness.path('files', `${index}`),
      ...own,
    }));
    await harness.applier.apply(harness.pass({ files }), { signal: never });
    expect(groups).toEqual([
      { size: 100, had: 0 },
      { size: 100, had: 100 },
      { size: 50, had: 200 },
    ]);
  });

  it('ends the pass when that of one file of many cannot be made, and none is touched', async () => {
    harness.close();
    const refusal = new Error('the audit log is full');
    const paths = ['a', 'b', 'c'].map((name) => harness.path('files', name));
    harness = new ApplierHarness({
      onAction: (action) =>
        'path' in action && action.path === paths[2] ? Promise.reject(refusal) : Promise.resolve(),
    });
    const files = paths.map((file) => ({ path: file, ...own }));
    await expect(harness.applier.apply(harness.pass({ files }), { signal: never })).rejects.toBe(
      refusal,
    );
    expect(paths.filter((file) => existsSync(file))).toEqual([]);
  });

  it('ends the pass when it cannot be made, and nothing is done', async () => {
    harness.close();
    const refusal = new Error('the audit log is full');
    harness = new ApplierHarness({ onAction: () => Promise.reject(refusal) });
    const file = harness.path('files', 'a');
    const instructions = [shell('a', `touch ${file}`)];
    await expect(
      harness.applier.apply(harness.pass({ instructions }), { signal: never }),
    ).rejects.toBe(refusal);
    const files = [{ path: file, ...own }];
    await expect(harness.applier.apply(harness.pass({ files }), { signal: never })).rejects.toBe(
      refusal,
    );
    expect(existsSync(file)).toBe(false);
  });
});

describe('a file that cannot be made', () => {
  it('ends the pass: what was before it stays, nothing after it is done', async () => {
    const pass = harness.pass({
      files: [
        { path: harness.path('files', 'a'), ...own },
        { path: harness.path('files', 'b'), content: '%%%', ...own },
      ],
      instructions: [shell('a', 'echo a')],
    });
    await expect(harness.applier.apply(pass, { signal: never })).rejects.toMatchObject({
      code: 'fileFailed',
      message: expect.stringContaining('found content that is not base64') as string,
    });
    expect(harness.list('files')).toEqual(['a']);
    expect(harness.actions).toHaveLength(1);
  });
});

describe('the owners of files', () => {
  it('are left out where they mean nothing, and that is told once', async () => {
    const files = { ...posixPlanFiles(), hasOwners: false };
    const other = new ApplierHarness({
      files: {
        ...files,
        writeFile: (file, content, rights) =>
          files.writeFile(file, content, { ...rights, uid: -1, gid: -1 }),
        writeAhead: () => Promise.resolve(undefined),
      },
    });
    const file = (name: string, uid?: number) => ({ path: other.path('files', name), uid });
    const plan = { files: [file('a', 1000), file('b', 1001), file('c'), file('d', -1)] };
    await other.applier.apply(other.pass(plan), { signal: never });
    await other.applier.apply(other.pass(plan), { signal: never });
    expect(other.list('files')).toEqual(['a', 'b', 'c', 'd']);
    expect(other.warnings()).toEqual([
      expect.stringMatching(/^the owners of 2 files of the plan, such as ".*\/a", are ignored/),
    ]);
    other.close();
  });
});

describe('a full disk', () => {
  it('below the history does not keep a plan from being applied', async () => {
    await onSmallDisk(harness.path('applied'), 1, async () => {
      const pass = harness.pass({ instructions: [shell('a', 'echo a')] });
      expect(await harness.applier.apply(pass, { signal: never })).toMatchObject({
        succeeded: true,
      });
      expect(harness.warnings()).toEqual(['the plan is not in the history']);
      expect(harness.list('applied')).toEqual([]);
    });
  });

  it('below the work folder is a failure of the instruction', async () => {
    await onSmallDisk(harness.path('work'), 2, async () => {
      const pass = harness.pass({ instructions: [shell('a', 'echo a')] });
      const result = await harness.applier.apply(pass, { signal: never });
      expect(result).toMatchObject({ succeeded: false, outputs: { a: null } });
      expect(harness.events).toContainEqual(
        expect.objectContaining({ kind: 'instructionEnded', exitCode: -1 }),
      );
      expect(harness.list('work')).toEqual([]);
    });
  });

  it('below the whole outputs leaves what is saved as it is', async () => {
    await onSmallDisk(harness.path('state'), 10, async () => {
      const pass = harness.pass({ instructions: [shell('a', 'head -c 200000 /dev/zero')] });
      const { succeeded, outputs } = await harness.applier.apply(pass, { signal: never });
      expect([succeeded, outputs['a']?.length]).toEqual([true, 200_000]);
      expect(harness.warnings()).toEqual([
        'the whole outputs of instructions are not kept on the node',
      ]);
    });
  });
});

describe('a stop', () => {
  onLinux('ends a running instruction with its hundred children', async () => {
    const stop = new AbortController();
    const script = `i=0; while [ $i -lt 100 ]; do sleep 3600 & i=$((i+1)); done; ps -o pgid= -p $$; echo ready; wait`;
    let group = 0;
    harness.close();
    const { programs } = harness.options;
    let text = '';
    harness = new ApplierHarness({
      programs: {
        ...programs,
        run: (command, { signal }) =>
          programs.run(
            {
              ...command,
              onOutput: (stream, bytes) => {
                text += bytes.toString();
                if (text.endsWith('ready\n')) stop.abort();
                group = Number.parseInt(text, 10);
              },
            },
            { signal },
          ),
      },
    });
    const applied = harness.applier.apply(harness.pass({ instructions: [shell('x', script)] }), {
      signal: stop.signal,
    });
    await expect(applied).rejects.toMatchObject({ code: 'aborted' });
    expect(group).toBeGreaterThan(1);
    expect(livingIn(group)).toEqual([]);
    expect(harness.list('work')).toEqual([]);
  });

  it('ends a pass that waits for its turn, and the next one has its turn still', async () => {
    const gate = harness.path('gate');
    const stop = new AbortController();
    const plan = { instructions: [shell('x', `until test -f ${gate}; do sleep 0.01; done`)] };
    const first = harness.applier.apply(harness.pass(plan), { signal: never });
    const second = harness.applier.apply(harness.pass({ instructions: [shell('b', 'true')] }), {
      signal: stop.signal,
    });
    const third = harness.applier.apply(harness.pass({ instructions: [shell('c', 'true')] }), {
      signal: never,
    });
    stop.abort();
    await expect(second).rejects.toMatchObject({ code: 'aborted' });
    writeFileSync(gate, '');
    expect((await first).succeeded).toBe(true);
    expect((await third).succeeded).toBe(true);
    expect(
      harness.actions.map((action) => action.kind === 'instruction' && action.instruction),
    ).toEqual(['x', 'c']);
  });

  it('does nothing once it has come', async () => {
    const pass = harness.pass({ instructions: [shell('x', 'true')] });
    await expect(
      harness.applier.apply(pass, { signal: AbortSignal.abort() }),
    ).rejects.toMatchObject({
      code: 'aborted',
    });
    expect(harness.actions).toEqual([]);
  });
});

describe('periodic instructions', () => {
  const plan = {
    periodicInstructions: [
      shell('ok', 'echo ok $CATTLE_AGENT_ATTEMPT_NUMBER', { periodSeconds: 20 }),
      shell('bad', 'echo out; echo err >&2; exit 5', { periodSeconds: 20, saveStderrOutput: true }),
      shell('third', 'echo third', { periodSeconds: 20 }),
    ],
  };
  const ran = (): string[] =>
    harness.actions
      .splice(0)
      .flatMap((action) =>
        action.kind === 'instruction' ? [`${action.instruction} ${action.attempt}`] : [],
      );

  it('run when their period is over, and after failures when they have cooled down', async () => {
    let { periodic } = await harness.applier.apply(harness.pass(plan), { signal: never });
    expect(ran()).toEqual(['ok 1', 'bad 1']);
    const next = async (seconds: number): Promise<string[]> => {
      harness.clock.advance(seconds * 1000);
      ({ periodic } = await harness.applier.apply(harness.idle(plan, { periodic }), {
        signal: never,
      }));
      return ran();
    };
    expect(await next(0)).toEqual(['third 1']);
    expect(await next(19)).toEqual([]);
    expect(await next(1)).toEqual(['ok 1', 'third 1']);
    expect(await next(10)).toEqual(['bad 2']);
    expect(await next(10)).toEqual(['ok 1', 'third 1']);
    expect(await next(49)).toEqual(['ok 1', 'third 1']);
    expect(await next(1)).toEqual(['bad 3']);
    expect(periodic['bad']).toEqual({
      name: 'bad',
      stdout: Buffer.from('out\n'),
      stderr: Buffer.from('err\n'),
      exitCode: 5,
      lastSuccessfulRunTime: '',
      failures: 3,
      lastFailedRunTime: 'Sun Nov 22 00:32:31 UTC 2026',
    });
    expect(periodic['ok']).toMatchObject({
      lastSuccessfulRunTime: 'Sun Nov 22 00:32:30 UTC 2026',
      stderr: undefined,
    });
  });

  it('cool down for three minutes at most, and all run when the plan is applied', async () => {
    const failing = {
      name: 'bad',
      stdout: null,
      stderr: null,
      exitCode: 5,
      lastSuccessfulRunTime: '',
      failures: 50,
      lastFailedRunTime: 'Sun Nov 22 00:31:01 UTC 2026',
    };
    const only = { periodicInstructions: plan.periodicInstructions.slice(1, 2) };
    const periodic = { bad: failing };
    harness.clock.advance(179_000);
    await harness.applier.apply(harness.idle(only, { periodic }), { signal: never });
    expect(ran()).toEqual([]);
    await harness.applier.apply(harness.pass(only, { periodic }), { signal: never });
    expect(ran()).toEqual(['bad 51']);
    harness.clock.advance(1000);
    await harness.applier.apply(harness.idle(only, { periodic }), { signal: never });
    expect(ran()).toEqual(['bad 51']);
  });

  it('run again after the clock was set back', async () => {
    const { periodic } = await harness.applier.apply(harness.pass(plan), { signal: never });
    ran();
    harness.clock.advance(-3_600_000);
    await harness.applier.apply(harness.idle(plan, { periodic }), { signal: never });
    expect(ran()).toEqual(['ok 1', 'bad 2']);
  });

  it('do not run without a name, and that is told once', async () => {
    const nameless = { periodicInstructions: [{ command: '/bin/true' }] };
    await harness.applier.apply(harness.idle(nameless), { signal: never });
    await harness.applier.apply(harness.idle(nameless), { signal: never });
    expect(ran()).toEqual([]);
    expect(harness.warnings()).toEqual(['periodic instruction 0 does not run: it has no name']);
  });
});

describe('the work folder', () => {
  it('stays when it is to be preserved, open to the agent alone', async () => {
    harness.close();
    harness = new ApplierHarness({ preserveWorkDirectory: true });
    const pass = harness.pass({ instructions: [shell('a', 'echo x > made')] });
    await harness.applier.apply(pass, { signal: never });
    const folder = harness.path('work', '20261122-003101', `${pass.checksum}_0`);
    expect(readFileSync(path.join(folder, 'made'), 'utf8')).toBe('x\n');
    for (const at of [folder, path.dirname(folder), harness.path('work')]) {
      expect(statSync(at).mode & 0o777).toBe(0o700);
    }
  });

  it('loses the remains of passes, and nothing else', async () => {
    const kept = harness.path('kept');
    mkdirSync(kept);
    writeFileSync(path.join(kept, 'file'), '');
    mkdirSync(harness.path('work', '20200101-000000', 'left'), { recursive: true, mode: 0o700 });
    symlinkSync(kept, harness.path('work', '20200101-000000', 'link'));
    symlinkSync(kept, harness.path('work', '20200101-000001'));
    writeFileSync(harness.path('work', 'of-a-person'), '');
    await harness.applier.apply(harness.idle({}), { signal: never });
    expect(harness.list('work')).toEqual(['of-a-person']);
    expect(harness.list('kept')).toEqual(['file']);
  });

  it('is not cleared if others could put links into it meanwhile', async () => {
    mkdirSync(harness.path('work', '20260101-000000', 'x'), { recursive: true });
    chmodSync(harness.path('work'), 0o777);
    await harness.applier.apply(harness.idle({}), { signal: never });
    expect(harness.list('work', '20260101-000000')).toEqual(['x']);
    expect(harness.warnings()).toEqual(['the work folder is not removed yet']);
  });

  it('is refused where it is a link', async () => {
    mkdirSync(harness.path('elsewhere'));
    symlinkSync(harness.path('elsewhere'), harness.path('work'));
    const pass = harness.pass({ instructions: [shell('a', 'echo x > made')] });
    const { succeeded } = await harness.applier.apply(pass, { signal: never });
    expect(succeeded).toBe(false);
    expect(harness.list('elsewhere')).toEqual([]);
  });
});

describe('a failed instruction', () => {
  it.each([
    [
      'by an exit code',
      { args: ['-c', 'seq 2000 >&2; echo no room >&2; exit 3'] },
      3,
      /\n2000\nno room\n$/,
    ],
    ['by a signal', { args: ['-c', 'echo x >&2; kill -9 $$'] }, -1, /^x\n$/],
    ['before it starts', { command: 'no-such-program' }, -1, /^cannot run "no-such-program": /],
  ])('is named with what it said at last: ended %s', async (_how, more, exitCode, said) => {
    const instructions = [{ command: '/bin/true' }, { command: '/bin/sh', ...more }];
    const { failure } = await harness.applier.apply(harness.pass({ instructions }), {
      signal: never,
    });
    expect(failure).toMatchObject({ instruction: '1', exitCode });
    expect(failure?.stderrEnd).toMatch(said);
    expect(failure?.stderrEnd.length).toBeLessThanOrEqual(4096);
    const ended = harness.events.find(({ kind }) => kind === 'passEnded');
    expect(ended).toMatchObject({ succeeded: false, failure });
  });
});

describe('the history', () => {
  it('has an entry for each change, and none for a pass, a retry or another start', async () => {
    const [one, other] = [{ instructions: [{ name: 'a' }] }, { instructions: [{ name: 'b' }] }];
    const again = { oneTime: { attempt: 2, isRepeated: true } };
    const local = { source: '/plans/l.plan' };
    const names = (): string[] =>
      harness.list('applied').map((name) => {
        const text = harness.read('applied', name);
        return text.slice(text.indexOf('"name":"') + 8)[0] ?? '';
      });
    await harness.applier.apply(harness.pass(one), { signal: never });
    await harness.applier.apply(harness.pass(other, local), { signal: never });
    expect(names()).toEqual(['a', 'b']);
    for (const pass of [
      harness.idle(one),
      harness.idle(other, local),
      harness.pass(one, again),
      harness.idle(one),
    ]) {
      harness.clock.advance(5000);
      await harness.applier.apply(pass, { signal: never });
      await createApplier(harness.options).apply(pass, { signal: never });
    }
    expect(names()).toEqual(['a', 'b']);
    await harness.applier.apply(harness.pass(one), { signal: never });
    expect(names()).toEqual(['a', 'b', 'a']);
    rmSync(harness.path('applied'), { recursive: true });
    await createApplier(harness.options).apply(harness.pass(one, again), { signal: never });
    expect(names()).toEqual(['a']);
  });

  it('has a plan once in a row, as the original writes it', async () => {
    const one = { instructions: [{ name: 'a', command: '/bin/true', env: ['A=<b>'] }] };
    await harness.applier.apply(harness.pass(one), { signal: never });
    harness.clock.advance(5000);
    await harness.applier.apply(harness.idle(one), { signal: never });
    expect(harness.list('applied')).toEqual(['20261122-003101-applied.plan']);
    expect(harness.read('applied', '20261122-003101-applied.plan')).toBe(
      `{"Plan":{"instructions":[{"name":"a","env":["A=\\u003cb\\u003e"],"command":"/bin/true"}]},"Checksum":"${harness.pass(one).checksum}"}`,
    );
    await harness.applier.apply(harness.pass({}), { signal: never });
    expect(harness.list('applied')).toHaveLength(2);
    expect(statSync(harness.path('applied')).mode & 0o777).toBe(0o700);
  });

  it('keeps the newest 64, and leaves other files alone', async () => {
    mkdirSync(harness.path('applied'), { mode: 0o755 });
    writeFileSync(harness.path('applied', 'note'), '');
    for (let index = 0; index < 66; index += 1) {
      await harness.applier.apply(harness.pass({ files: [], probes: { [index]: {} } }), {
        signal: never,
      });
      harness.clock.advance(1000);
    }
    const names = harness.list('applied');
    expect(names).toHaveLength(65);
    expect(names[0]).toBe('20261122-003103-applied.plan');
    expect(names.at(-1)).toBe('note');
  });

  it('does not keep a plan from being applied where it cannot be written, and that is told once', async () => {
    writeFileSync(harness.path('applied'), 'in the way');
    const pass = harness.pass({ instructions: [shell('a', 'echo a')] });
    expect((await harness.applier.apply(pass, { signal: never })).succeeded).toBe(true);
    expect((await harness.applier.apply(pass, { signal: never })).succeeded).toBe(true);
    expect(harness.warnings()).toHaveLength(1);
    expect(harness.events).toContainEqual(
      expect.objectContaining({
        message: 'the plan is not in the history',
        error: expect.objectContaining({ code: 'fileFailed' }) as Error,
      }),
    );
  });
});

/** Omits zombies. */
function livingIn(group: number): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const [, rest = ''] = /\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
      const [state, , pgrp] = rest.split(' ');
      return Number(pgrp) === group && state !== 'Z';
    } catch {
      return false;
    }
  });
}
