import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import type { PlanStatus } from '../system-agent.js';
import { ApplierHarness, shell } from '../testing/applier-harness.js';
import { followLocalPlans } from './local-plans.js';

let harness: ApplierHarness;
let stop: AbortController;
let following: Promise<void>;
let plans: readonly PlanStatus[];

beforeEach(() => {
  harness = new ApplierHarness();
  start();
});

afterEach(async () => {
  stop.abort();
  await following;
  harness.close();
});

function start(): void {
  stop = new AbortController();
  plans = [];
  following = followLocalPlans(
    {
      directory: harness.path('plans'),
      applier: harness.applier,
      clock: harness.clock,
      files: harness.options.files,
      onStatus: (statuses) => (plans = statuses),
      onEvent: harness.options.onEvent,
    },
    stop.signal,
  );
}

/** Starts the next check, due after 5 s, and waits for its end. */
async function look(): Promise<void> {
  await harness.clock.waiting();
  harness.clock.advance(5000);
  await harness.clock.waiting();
}

function write(name: string, plan: object | string): void {
  const file = harness.path('plans', name);
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, typeof plan === 'string' ? plan : JSON.stringify(plan));
}

const plan = (name: string, script = `echo ${name}`): object => ({
  instructions: [shell(name, script)],
});

/** Instructions that ran since the last call, each with its attempt. */
const ran = (): string[] =>
  harness.actions
    .splice(0)
    .flatMap((action) =>
      action.kind === 'instruction' ? [`${action.instruction} ${action.attempt}`] : [],
    );

function position(name: string): {
  readonly appliedChecksum: string;
  readonly output: Readonly<Record<string, string | null>>;
  readonly text: string;
} {
  const text = harness.read('plans', name);
  const { appliedChecksum, output } = JSON.parse(text) as Record<string, string>;
  const saved = JSON.parse(gunzipSync(Buffer.from(output ?? '', 'base64')).toString()) as Record<
    string,
    string | null
  >;
  const decoded = Object.entries(saved).map(([key, value]) => [
    key,
    value && Buffer.from(value, 'base64').toString(),
  ]);
  return {
    appliedChecksum: appliedChecksum ?? '',
    output: Object.fromEntries(decoded) as Record<string, string | null>,
    text,
  };
}

describe('local plans', () => {
  it('are applied in the order of their paths, once, as attempt 0, when the folder comes', async () => {
    await look();
    expect(harness.events).toEqual([]);
    write('b.plan', plan('b'));
    write('a/n.plan', plan('n'));
    write('.hidden.plan', plan('hidden'));
    write('plan.txt', plan('text'));
    await look();
    expect(ran()).toEqual(['n 0', 'b 0']);
    await look();
    expect(ran()).toEqual([]);
    expect(plans.map(({ source, state }) => [path.basename(source), state.kind])).toEqual([
      ['n.plan', 'applied'],
      ['b.plan', 'applied'],
    ]);
    expect(plans[1]).toMatchObject({
      appliedChecksum: plans[1]?.checksum,
      failures: 0,
      lastApplyTime: 'Sun Nov 22 00:31:11 UTC 2026',
    });
  });

  it('have a private state file that is written only when something changed', async () => {
    write('a.plan', plan('a', 'echo out'));
    await look();
    const file = harness.path('plans', 'a.pos');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(position('a.pos')).toMatchObject({
      appliedChecksum: plans[0]?.checksum,
      output: { a: 'out\n' },
    });
    expect(Object.keys(JSON.parse(position('a.pos').text) as object)).toEqual([
      'appliedChecksum',
      'output',
      'periodicOutput',
    ]);
    utimesSync(file, 0, 0);
    await look();
    expect(statSync(file).mtimeMs).toBe(0);
  });

  it('that change are applied again, and what they save is added', async () => {
    write('a.plan', plan('a'));
    await look();
    write('a.plan', plan('a2'));
    await look();
    expect(ran()).toEqual(['a 0', 'a2 0']);
    expect(position('a.pos').output).toEqual({ a: 'a\n', a2: 'a2\n' });
  });

  it('that fail are not repeated, and their output is saved', async () => {
    write('b.plan', plan('b', 'echo b; exit 3'));
    await look();
    await look();
    expect(ran()).toEqual(['b 0']);
    expect(position('b.pos').output).toEqual({ b: 'b\n' });
    expect(plans[0]).toMatchObject({
      state: { kind: 'failed', failures: 1 },
      failures: 1,
      failedChecksum: plans[0]?.checksum,
    });
  });

  it('that failed have not failed any more once another plan in their place succeeds', async () => {
    write('b.plan', plan('b', 'exit 3'));
    await look();
    await look();
    expect(plans[0]).toHaveProperty('failedChecksum');
    write('b.plan', plan('b'));
    await look();
    expect(plans[0]).toMatchObject({ state: { kind: 'applied' }, failures: 0 });
    expect(plans[0]).not.toHaveProperty('failedChecksum');
  });

  it('go on with periodic instructions and probes', async () => {
    write('a.plan', {
      periodicInstructions: [shell('p', 'echo p', { periodSeconds: 10 })],
      probes: { w: { failureThreshold: 2 } },
    });
    await look();
    await look();
    await look();
    expect(ran()).toEqual(['p 1', 'p 1']);
    expect(plans[0]?.probes).toEqual({ w: { healthy: false, successCount: 0, failureCount: 2 } });
    expect(JSON.parse(position('a.pos').text)).toMatchObject({
      probeStatus: { w: { failureCount: 2 } },
    });
  });

  it('are skipped while a file with their name and .skip is anywhere in the tree', async () => {
    for (const name of ['c.plan', 'x/c.plan', 'd.plan', 'e.plan']) write(name, plan('ran'));
    write('y/c.plan.skip', '');
    write('e.skip', '');
    await look();
    expect(plans.map(({ source }) => path.basename(source))).toEqual(['d.plan', 'e.plan']);
    rmSync(harness.path('plans', 'y', 'c.plan.skip'));
    await look();
    expect(plans).toHaveLength(4);
  });

  it('are applied again when their state file is gone or cannot be read', async () => {
    write('a.plan', plan('a'));
    await look();
    ran();
    rmSync(harness.path('plans', 'a.pos'));
    await look();
    expect(ran()).toEqual(['a 0']);
    for (const garbage of ['garbage', '[]', '{"output":"Z2FyYmFnZQ=="}', '{"appliedChecksum":1}']) {
      write('a.pos', garbage);
      await look();
      expect(ran()).toEqual(['a 0']);
      expect(position('a.pos').output).toEqual({ a: 'a\n' });
    }
    expect(harness.warnings()[0]).toContain('the plan is applied again: cannot read the state');
  });

  it('are not applied again by another start of the agent', async () => {
    write('a.plan', plan('a'));
    await look();
    stop.abort();
    await following;
    start();
    await look();
    expect(ran()).toEqual(['a 0']);
    expect(plans[0]?.state.kind).toBe('applied');
  });

  it('are not applied again while their state cannot be saved', async () => {
    mkdirSync(harness.path('plans', 'a.pos'), { recursive: true });
    write('a.plan', plan('a'));
    await look();
    await look();
    expect(ran()).toEqual(['a 0']);
    expect(harness.warnings().some((text) => text.includes('is not saved yet'))).toBe(true);
    rmSync(harness.path('plans', 'a.pos'), { recursive: true });
    await look();
    expect(position('a.pos').output).toEqual({ a: 'a\n' });
    expect(ran()).toEqual([]);
  });

  it('that cannot be read are told once, and the others go on', async () => {
    write('a.plan', 'not json');
    write('b.plan', plan('b'));
    await look();
    await look();
    expect(ran()).toEqual(['b 0']);
    expect(plans[0]?.state).toMatchObject({ kind: 'invalid', error: { code: 'invalidPlan' } });
    expect(harness.warnings()).toEqual([
      'the local plan is not applied: cannot read the plan: found text that is not JSON; wanted one JSON object',
    ]);
    write('a.plan', plan('a'));
    await look();
    expect(ran()).toEqual(['a 0']);
  });

  it('with a file that cannot be made are tried at each look', async () => {
    const file = harness.path('files', 'a', 'b');
    mkdirSync(harness.path('files'));
    writeFileSync(harness.path('files', 'a'), 'in the way');
    const own = { uid: process.getuid?.(), gid: process.getgid?.() };
    write('a.plan', { files: [{ path: file, ...own }] });
    await look();
    expect(plans[0]?.state).toMatchObject({ kind: 'invalid', error: { code: 'fileFailed' } });
    await look();
    expect(harness.warnings()).toHaveLength(1);
    rmSync(harness.path('files', 'a'));
    await look();
    expect(plans[0]?.state.kind).toBe('applied');
    expect(readFileSync(file, 'utf8')).toBe('');
  });

  it('tell once which keys mean nothing', async () => {
    write('a.plan', { nope: 1 });
    await look();
    await look();
    expect(harness.warnings()).toEqual([
      expect.stringMatching(/^plan [0-9a-f]{64} has 1 unknown keys, such as "nope"$/),
    ]);
  });

  it('are refused when others can write to them', async () => {
    write('a.plan', plan('a'));
    chmodSync(harness.path('plans', 'a.plan'), 0o666);
    await look();
    expect(ran()).toEqual([]);
    expect(plans[0]?.state.kind).toBe('invalid');
    expect(harness.warnings()[0]).toContain('group or others can write to it');
  });

  it('are refused when others can write to their state file', async () => {
    write('a.plan', plan('a'));
    write('a.pos', '{}');
    chmodSync(harness.path('plans', 'a.pos'), 0o666);
    await look();
    await look();
    expect(ran()).toEqual([]);
    expect(plans[0]?.state.kind).toBe('invalid');
    expect(harness.warnings()).toEqual([expect.stringContaining('a.pos')]);
  });

  it('are followed through links within the folder, and never out of it', async () => {
    write('data/.hidden.plan', plan('inside'));
    symlinkSync('data/.hidden.plan', harness.path('plans', 'in.plan'));
    writeFileSync(harness.path('out.plan'), JSON.stringify(plan('outside')));
    symlinkSync(harness.path('out.plan'), harness.path('plans', 'out.plan'));
    mkdirSync(harness.path('folder'));
    writeFileSync(harness.path('folder', 'x.plan'), JSON.stringify(plan('outside')));
    symlinkSync(harness.path('folder'), harness.path('plans', 'folder'));
    await look();
    expect(ran()).toEqual(['inside 0']);
    expect(harness.warnings()).toHaveLength(1);
  });

  it('are not looked for in folders without end', async () => {
    write(`${'d/'.repeat(31)}near.plan`, plan('near'));
    write(`${'d/'.repeat(32)}far.plan`, plan('far'));
    await look();
    expect(ran()).toEqual(['near 0']);
    expect(harness.warnings()).toEqual([
      'part of the folder of local plans is skipped: found folders nested deeper than 32',
    ]);
  });

  it('end when the agent stops, also in the middle of an instruction', async () => {
    stop.abort();
    await following;
    write('a.plan', plan('a', `touch ${harness.path('started')}; sleep 3600`));
    start();
    while (harness.list().every((name) => name !== 'started')) await new Promise(setImmediate);
    stop.abort();
    await following;
    expect(harness.list('plans')).toEqual(['a.plan']);
  });
});
