import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';

import { AgentError } from '../agent-error.js';
import { planChecksum } from '../plan/parse-plan.js';
import { ProbeTarget } from '../testing/replay/probe-target.js';
import { MemorySecrets } from '../testing/memory-secrets.js';
import { ScenarioPlayer } from '../testing/replay/scenario-player.js';

/** The instruction writes a line for each run. */
const plan = (folder: string, name: string, script = 'true'): string =>
  JSON.stringify({
    instructions: [
      {
        name,
        command: '/bin/sh',
        args: [
          '-c',
          `echo ${name} $CATTLE_AGENT_ATTEMPT_NUMBER | tee -a ${folder}/runs; ${script}`,
        ],
        saveOutput: true,
      },
    ],
  });
const checksum = (text: string): string => planChecksum(Buffer.from(text));
const unreachable = (): AgentError =>
  new AgentError('unreachable', 'the API server does not answer');

describe('the remote plan', () => {
  let folder: string;
  let player: ScenarioPlayer;
  let secrets: MemorySecrets;
  const target = new ProbeTarget();

  const secret = (): Record<string, string> =>
    Object.fromEntries(
      Object.entries(secrets.secret?.data ?? {}).map(([key, value]) => [key, value.toString()]),
    );
  const runs = (): string[] => {
    try {
      return readFileSync(path.join(folder, 'runs'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };
  const kept = (): string[] =>
    readdirSync(path.join(folder, 'state')).filter((name) => name === 'unwritten.json');
  const state = (): string => player.agent.status().plans[0]?.state.kind ?? '';
  const warnings = (): string[] =>
    player.events.flatMap((event) => (event.kind === 'warning' ? [event.message] : []));
  const start = async (): Promise<void> => {
    player.start();
    await player.settle();
  };

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'remote-plan-'));
    const config = { remoteEnabled: true, localEnabled: false, preserveWorkDirectory: false };
    const nothing = { actions: [], secretBefore: null, secretVersions: [], filesAtEnd: [] };
    secrets = new MemorySecrets();
    player = new ScenarioPlayer({ description: '', config, ...nothing }, folder, target, secrets);
  });

  afterEach(async () => {
    await player.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  it('keeps a result privately on the disk while the API server is away, and writes it once when it is back', async () => {
    const text = plan(folder, 'a');
    secrets.create({ plan: text });
    secrets.onCall = (call) => {
      if (call === 'write') secrets.breakDown();
    };
    await start();
    expect(state()).toBe('unwritten');
    expect(kept()).toHaveLength(1);
    expect(statSync(path.join(folder, 'state/unwritten.json')).mode & 0o777).toBe(0o600);
    await player.advanceBy(30_000);
    expect(player.agent.status().plans[0]?.appliedChecksum).toBe(checksum(text));
    secrets.onCall = () => undefined;
    secrets.recover();
    await player.settle();
    expect(state()).toBe('applied');
    expect(secret()).toMatchObject({ 'applied-checksum': checksum(text), 'success-count': '1' });
    expect(player.written).toHaveLength(1);
    expect(runs()).toEqual(['a 1']);
    expect(kept()).toEqual([]);
  });

  it('writes first what the process before it could not write', async () => {
    const text = plan(folder, 'a');
    secrets.create({ plan: text, 'plan-state': 'pending' });
    let writes = 0;
    secrets.onCall = (call) => {
      if (call === 'write' && (writes += 1) > 1) secrets.breakDown();
    };
    await start();
    await player.stop();
    secrets.onCall = () => undefined;
    secrets.recover();
    await start();
    expect(secret()).toMatchObject({
      'plan-state': 'succeeded',
      'applied-checksum': checksum(text),
    });
    expect(runs()).toEqual(['a 1']);
    expect(kept()).toEqual([]);
  });

  it('has written a result also where the file that kept it cannot be removed, and says so', async () => {
    secrets.create({ plan: plan(folder, 'a') });
    const file = path.join(folder, 'state/unwritten.json');
    player.onWrite = () => {
      rmSync(file);
      mkdirSync(file);
    };
    await start();
    player.onWrite = () => undefined;
    expect(state()).toBe('applied');
    expect(warnings()).toEqual([expect.stringContaining('cannot remove a written result')]);
    rmSync(file, { recursive: true });
    secrets.change({ plan: plan(folder, 'b') });
    await player.settle();
    expect(runs()).toEqual(['a 1', 'b 1']);
    expect(kept()).toEqual([]);
  });

  it('says of each result that it cannot be kept on the disk', async () => {
    await start();
    mkdirSync(path.join(folder, 'state/unwritten.json/taken'), { recursive: true });
    secrets.create({ plan: plan(folder, 'a') });
    await player.settle();
    secrets.change({ plan: plan(folder, 'b') });
    await player.settle();
    const lost = 'cannot keep a result on the disk; it is lost if the daemon ends';
    expect(warnings()).toEqual([lost, lost]);
  });

  it('does not write the result of a plan that was replaced, and says so', async () => {
    const next = plan(folder, 'b');
    secrets.create({ plan: plan(folder, 'a', 'exit 3') });
    secrets.onCall = (call) => {
      if (call === 'write') secrets.breakDown();
    };
    await start();
    await player.stop();
    secrets.onCall = () => undefined;
    secrets.recover();
    secrets.change({ plan: next });
    await start();
    expect(secret()).toMatchObject({ 'applied-checksum': checksum(next), 'failed-checksum': '' });
    expect(runs()).toEqual(['a 1', 'b 1']);
    expect(warnings().join()).toMatch(
      /the result of plan [0-9a-f]{64} is not written: the Secret is gone or has another plan/,
    );
    const history = await player.agent.history();
    expect(history.map(({ plan: { instructions } }) => instructions[0]?.name)).toEqual(['b', 'a']);
  });

  it('runs a plan again that was made pending again while it ran', async () => {
    const text = plan(folder, 'a', 'sleep 5');
    secrets.create({ plan: text, 'plan-state': 'pending' });
    await start();
    expect(state()).toBe('applying');
    secrets.change({ 'plan-state': 'pending' });
    await player.advanceBy(20_000);
    expect(runs()).toEqual(['a 1', 'a 1']);
    expect(secret()).toMatchObject({
      'plan-state': 'succeeded',
      'plan-revision': '2',
      'success-count': '2',
    });
  });

  it('runs a plan again that somebody marks as in-progress while the agent runs', async () => {
    secrets.create({ plan: plan(folder, 'a'), 'plan-state': 'pending' });
    await start();
    secrets.change({ 'plan-state': 'in-progress' });
    await player.settle();
    expect(runs()).toEqual(['a 1', 'a 1']);
    expect(secret()).toMatchObject({ 'plan-state': 'succeeded', 'plan-revision': '1' });
  });

  it('does not run a plan again whose result joins one that waited already', async () => {
    await target.listen();
    target.answer(200);
    const text = plan(folder, 'a').replace(
      '{"instructions"',
      `{"probes":{"w":{"httpGet":{"url":"${target.url}/healthz"}}},"instructions"`,
    );
    secrets.create({ plan: text, 'plan-state': 'pending' });
    await start();
    let writes = 0;
    secrets.onCall = (call) => {
      // Writes 1, 2 and 4 contain the probe's status, and fail. Write 3 only announces the second run, and succeeds.
      if (call === 'write' && [1, 2, 4].includes((writes += 1))) throw unreachable();
    };
    target.answer(500);
    await player.advanceBy(5_000);
    expect(state()).toBe('unwritten');
    secrets.change({ 'plan-state': 'pending' });
    await player.advanceBy(30_000);
    await target.close();
    expect(runs()).toEqual(['a 1', 'a 1']);
    expect(secret()).toMatchObject({
      'plan-state': 'succeeded',
      'plan-revision': '2',
      'success-count': '2',
      'probe-statuses': '{"w":{"failureCount":3}}',
    });
  });

  it('does not say that a result is lost which the Secret had before its next plan', async () => {
    secrets.create({ plan: plan(folder, 'a'), 'plan-state': 'pending' });
    let written = 0;
    player.onWrite = () => {
      if ((written += 1) !== 2) return;
      secrets.change({ plan: plan(folder, 'b'), 'plan-state': 'pending' });
      throw unreachable();
    };
    await start();
    await player.advanceBy(30_000);
    expect(runs()).toEqual(['a 1', 'b 1']);
    expect(secret()).toMatchObject({ 'plan-state': 'succeeded', 'plan-revision': '2' });
    expect(warnings()).toEqual([]);
  });

  it('leaves a plan alone that was cancelled while it ran', async () => {
    secrets.create({ plan: plan(folder, 'a', 'sleep 5'), 'plan-state': 'pending' });
    await start();
    secrets.change({ 'plan-state': 'cancelled' });
    await player.advanceBy(60_000);
    expect(runs()).toEqual(['a 1']);
    expect(secret()).toMatchObject({ 'plan-state': 'cancelled', 'success-count': '1' });
  });

  it('survives that the Secret is deleted during an apply, and applies the plan of a new one', async () => {
    const text = plan(folder, 'a', 'sleep 5');
    secrets.create({ plan: text });
    await start();
    secrets.delete();
    await player.advanceBy(60_000);
    expect(state()).toBe('noSecret');
    expect(player.written).toEqual([]);
    secrets.create({ plan: text, 'applied-checksum': checksum(text) });
    await player.advanceBy(10_000);
    expect(runs()).toEqual(['a 1', 'a 1']);
    expect(secret()).toMatchObject({ 'applied-checksum': checksum(text), 'success-count': '1' });
  });

  it('has no unwritten result once the Secret for it is deleted', async () => {
    secrets.create({ plan: plan(folder, 'a') });
    secrets.onCall = (call) => {
      if (call === 'write') throw new AgentError('forbidden', 'no right to write');
    };
    await start();
    expect(state()).toBe('unwritten');
    secrets.delete();
    await player.settle();
    expect(state()).toBe('noSecret');
    expect(warnings()).toEqual([expect.stringContaining('the Secret is gone')]);
  });

  it('waits 1, 2, 4 and 5 minutes for a plan that it cannot read, and not at all for the next one', async () => {
    secrets.create({ plan: 'not json' });
    await start();
    const waitsMs: (number | undefined)[] = [];
    for (let pass = 0; pass < 5; pass += 1) {
      const [status] = player.agent.status().plans;
      const waitMs =
        status?.state.kind === 'invalid'
          ? status.state.retryAt.getTime() - player.clock.now().getTime()
          : 0;
      waitsMs.push(waitMs / 60_000);
      await player.advanceBy(waitMs);
    }
    expect(waitsMs).toEqual([1, 2, 4, 5, 5]);
    expect(player.written).toEqual([]);
    secrets.change({ plan: plan(folder, 'a') });
    await player.settle();
    expect(runs()).toEqual(['a 1']);
  });

  it('asks which version is true when an older one is told, and takes it', async () => {
    const text = plan(folder, 'a');
    secrets.create({ plan: text });
    await start();
    // Restarts the Secret's versions, as a restore of the cluster does.
    secrets.restore({ plan: plan(folder, 'b') });
    await player.settle();
    expect(runs()).toEqual(['a 1', 'b 1']);
  });

  it('cuts outputs for a Secret that a plan of nearly a megabyte fills', async () => {
    const filler = 'x'.repeat(1_000_000);
    const script = 'head -c 60000 /dev/urandom';
    secrets.create({
      plan: plan(folder, 'a', script).replace(/}$/, `,"filler":"${filler}"}`),
    });
    await start();
    expect(secret()['success-count']).toBe('1');
    const packed = secrets.secret?.data['applied-output'] ?? Buffer.alloc(0);
    const outputs = JSON.parse(gunzipSync(packed).toString()) as Record<string, string>;
    expect(Buffer.from(outputs['a'] ?? '', 'base64').toString('latin1')).toMatch(
      /^a 1\n[^]*\n\[\d+ bytes are missing here; the node has the whole output\]\n$/,
    );
  });

  it.each([
    ['random', 'head -c 600000 /dev/urandom'],
    ['alike', 'head -c 600000 /dev/zero'],
  ])(
    'writes the result of a plan that saves more outputs, all %s, than could be read back',
    async (_which, script) => {
      const instructions = Array.from({ length: 25 }, (_, index) => ({
        name: `i${index}`,
        command: '/bin/sh',
        args: ['-c', script],
        saveOutput: true,
      }));
      const text = JSON.stringify({ instructions });
      secrets.create({ plan: text });
      await start();
      expect(state()).toBe('applied');
      const { secret: written } = secrets;
      expect(written?.data['applied-checksum']?.toString()).toBe(checksum(text));
      const outputs = gunzipSync(written?.data['applied-output'] ?? '', {
        maxOutputLength: 16 * 1024 * 1024,
      });
      expect(Object.keys(JSON.parse(outputs.toString()) as object)).toHaveLength(25);
    },
  );

  it('does not let a probe that never settles keep the node and the API server busy', async () => {
    await target.listen();
    const probes = { w: { httpGet: { url: `${target.url}/flapping` } } };
    secrets.create({ plan: JSON.stringify({ probes }) });
    await start();
    await player.advanceBy(10_000);
    await target.close();
    expect(player.written.length).toBeLessThan(40);
    expect(player.written.length).toBeGreaterThan(10);
  });

  it.each([-3600, 3600])('goes on when the clock is set by %i s', async (seconds) => {
    await target.listen();
    target.answer(200);
    const probes = { w: { httpGet: { url: `${target.url}/healthz` } } };
    secrets.create({ plan: JSON.stringify({ probes }) });
    await start();
    player.wrongByMs = seconds * 1000;
    target.answer(500);
    await player.advanceBy(10_000);
    await target.close();
    expect(secret()['probe-statuses']).toBe('{"w":{"failureCount":3}}');
  });

  it('tries to write again when the clock was set back during an outage', async () => {
    const text = plan(folder, 'a');
    secrets.create({ plan: text });
    let writes = 0;
    secrets.onCall = (call) => {
      if (call === 'write' && (writes += 1) < 4) throw unreachable();
    };
    await start();
    player.wrongByMs = -3_600_000;
    await player.advanceBy(30_000);
    expect(secret()['applied-checksum']).toBe(checksum(text));
  });

  it('tries to write again within a minute when the clock was set back, although passes go on meanwhile', async () => {
    const text = plan(folder, 'a');
    secrets.create({ plan: text });
    let isAway = true;
    secrets.onCall = (call) => {
      if (call === 'write' && isAway) throw unreachable();
    };
    await start();
    await player.advanceBy(60_000);
    player.wrongByMs = -3_600_000;
    isAway = false;
    await player.advanceBy(60_000);
    expect(secret()['applied-checksum']).toBe(checksum(text));
  });

  it.each([
    ['another form', '{}'],
    [
      'a key that is not ours to write',
      JSON.stringify({ uid: 'uid-1', checksum: '', values: { plan: 'e30=' } }),
    ],
  ])('does not use a kept result with %s', async (_, text) => {
    mkdirSync(path.join(folder, 'state'), { mode: 0o700 });
    writeFileSync(path.join(folder, 'state/unwritten.json'), text);
    secrets.create({ plan: plan(folder, 'a') });
    await start();
    expect(warnings()).toEqual(['the kept copy of an earlier result cannot be used']);
    expect(player.written).toHaveLength(1);
    expect(secret()).toMatchObject({ plan: plan(folder, 'a'), 'success-count': '1' });
    expect(kept()).toEqual([]);
  });

  it('starts a source again that broke down in a way that nobody foresaw', async () => {
    let watches = 0;
    secrets.onCall = (call) => {
      if (call === 'watch' && (watches += 1) === 1) throw new TypeError('unforeseen');
    };
    secrets.create({ plan: plan(folder, 'a') });
    player.start();
    await player.clock.waiting();
    player.clock.advance(1000);
    await player.settle();
    expect(warnings()).toEqual(['the source of plans ended and starts again']);
    expect(runs()).toEqual(['a 1']);
  });

  it('tells each state once, and nothing of the secrets of a plan', async () => {
    secrets.create({
      plan: plan(folder, 'a', ': canary').replace('"name"', '"env":["K=canary"],"name"'),
      x: 'canary',
    });
    await start();
    await player.advanceBy(60_000);
    const states = player.events.flatMap((event) =>
      event.kind === 'stateChanged' ? [event.state.kind] : [],
    );
    expect(states).toEqual(['applying', 'applied']);
    expect(JSON.stringify(player.events)).not.toContain('canary');
  });

  describe.each([
    ['', 'succeeds'],
    ['pending', 'succeeds'],
    ['', 'fails'],
    ['pending', 'fails'],
  ])('with plan-state %j, and a plan that %s', (planState, end) => {
    const fails = end === 'fails';
    const planOf = (name: string): string => plan(folder, name, fails ? 'exit 3' : 'true');
    const fresh = (text: string): Record<string, string> => ({
      plan: text,
      'max-failures': '1',
      ...(planState && { 'plan-state': planState }),
    });
    // Call 0 opens the watch. With `plan-state`, call 1 writes the announcement. The last call writes the result.
    const calls = planState ? [0, 1, 2] : [0, 1];
    const writes = calls.slice(1);
    /** A plan that fails needs only the last call, because the others come before its result. */
    const ofResult = (all: readonly number[]): readonly number[] => (fails ? all.slice(-1) : all);

    const at = (call: number, action: () => void): void => {
      let count = -1;
      secrets.onCall = () => {
        count += 1;
        if (count === call) action();
      };
    };
    const afterWrite = (write: number, action: () => void): void => {
      let written = 0;
      player.onWrite = () => {
        written += 1;
        if (written === write) action();
      };
    };
    const lose = (): never => {
      throw unreachable();
    };
    /** @param count - Number of plans that have ended. Only the rules before `plan-state` add up failures of different plans. */
    const expectEnd = (text: string, count = 1): void => {
      expect(secret()).toMatchObject({
        ...(!fails && { 'applied-checksum': checksum(text) }),
        'failed-checksum': fails ? checksum(text) : '',
        'failure-count': fails ? String(planState ? 1 : count) : '0',
        ...(planState && {
          'plan-state': fails ? 'failed' : 'succeeded',
          'plan-revision': String(count),
        }),
      });
      expect(kept()).toEqual([]);
    };

    it.each(ofResult(writes))(
      'call %i fails once: the plan runs once, and the Secret says so',
      async (call) => {
        const text = planOf('a');
        secrets.create(fresh(text));
        at(call, lose);
        await start();
        await player.advanceBy(30_000);
        expectEnd(text);
        expect(runs()).toEqual(['a 1']);
        expect(secret()['success-count']).toBe(fails ? '0' : '1');
      },
    );

    it.each(ofResult(calls))(
      'the API server is away from call %i for a minute: the same',
      async (call) => {
        const text = planOf('a');
        secrets.create(fresh(text));
        at(call, () => secrets.breakDown());
        await start();
        await player.advanceBy(60_000);
        secrets.recover();
        await player.advanceBy(70_000);
        expectEnd(text);
        expect(runs()).toEqual(['a 1']);
        expect(secret()['success-count']).toBe(fails ? '0' : '1');
      },
    );

    it.each(writes)('the answer to write %i is lost: the same', async (write) => {
      const text = planOf('a');
      secrets.create(fresh(text));
      afterWrite(write, lose);
      await start();
      await player.advanceBy(70_000);
      expectEnd(text);
      expect(runs()).toEqual(['a 1']);
      expect(secret()['success-count']).toBe(fails ? '0' : '1');
    });

    it.each(writes)('the answer to write %i of the next plan is lost: the same', async (write) => {
      secrets.create(fresh(planOf('a')));
      await start();
      const text = planOf('b');
      afterWrite(write, lose);
      secrets.change(fresh(text));
      await player.advanceBy(70_000);
      expectEnd(text, 2);
      expect(runs()).toEqual(['a 1', `b ${fails && !planState ? 2 : 1}`]);
    });

    it.each([
      ...ofResult(calls).map((call) => ['ends', 'at', call] as const),
      ...writes.map((call) => ['is killed', 'at', call] as const),
      ...writes.map((call) => ['is killed', 'after', call] as const),
    ])(
      'the agent %s %s call %i and starts again: what ran is known, and the Secret ends right',
      async (how, moment, call) => {
        const text = planOf('a');
        secrets.create(fresh(text));
        const saved = `${folder}.saved`;
        let ending: Promise<void> | undefined;
        const end = (): never => {
          if (how === 'is killed') cpSync(folder, saved, { recursive: true });
          ending = player.stop();
          return lose();
        };
        if (moment === 'at') at(call, end);
        else afterWrite(call, end);
        await start();
        await ending;
        secrets.onCall = () => undefined;
        player.onWrite = () => undefined;
        if (how === 'is killed') {
          rmSync(folder, { recursive: true });
          renameSync(saved, folder);
        }
        await start();
        await player.advanceBy(70_000);
        expectEnd(text);
        // Without `plan-state`, an applied plan runs again after a start.
        expect(runs().length).toBeLessThanOrEqual(planState || fails ? 1 : 2);
      },
    );
  });
});
