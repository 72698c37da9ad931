import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { AllowedExecutable, DetachedGrant } from './policy/executable-policy.js';
import type { HostCommand } from '@wins/base';
import { systemClock } from '@wins/time';
import { ProcessOutput } from './output/process-output.js';
import type { Keeping, RunFacts } from './start-request.js';
import { LocalTree, type SupervisedTree } from './supervision/supervised-tree.js';
import {
  codeOf,
  isRunning,
  ManagerHarness,
  realHost,
  requestFor,
  TestOwner,
  untilOutput,
} from './testing/manager-harness.js';
import { RunFolders } from './supervision/run-folders.js';
import type { TestProgram } from './testing/test-program.js';

const GRANT: DetachedGrant = { maxRuns: 2, spoolBytes: 1024, maxAgeMs: 1000 };

class Keeper implements Keeping {
  lifetime: Keeping['lifetime'] = 'detached';
  readonly started: {
    readonly command: HostCommand;
    readonly run: RunFacts;
    readonly tree: SupervisedTree;
  }[] = [];
  grant: DetachedGrant | undefined;
  readonly #host = realHost();

  async start(command: HostCommand, run: RunFacts, grant: DetachedGrant): Promise<SupervisedTree> {
    this.grant = grant;
    const tree = new LocalTree(await this.#host.start(command), {
      supervisor: this.#host.daemon,
      graceMs: 10_000,
      log: (source) => new ProcessOutput(65_536, source, 0),
      clock: { ...systemClock, now: () => new Date(STARTED_AT_MS) },
    });
    this.started.push({ command, run, tree });
    return tree;
  }

  async endAll(): Promise<void> {
    for (const { tree } of this.started) {
      tree.end('hostFailed', true);
      await tree.ended;
    }
  }
}

const STARTED_AT_MS = 4711;

describe('a run that outlives its manager', () => {
  let harness: ManagerHarness;
  let keeping: Keeper;
  let program: TestProgram;
  beforeEach(() => {
    harness = new ManagerHarness();
    keeping = new Keeper();
    program = harness.program('tool', 'exec sleep 60');
  });
  afterEach(async () => {
    await keeping.endAll();
    await harness.close();
  });
  const manager = () => harness.manager([], { allowed: [{ path: program.path, detached: GRANT }] });

  it('is refused without a grant of its entry, and nothing starts', async () => {
    const plain = harness.manager(['tool']);
    await expect(plain.start(requestFor(program, { keeping }))).rejects.toMatchObject({
      code: 'detachedNotAllowed',
      rule: 'A120 detached not granted',
    });
    expect(keeping.started).toEqual([]);
    expect(harness.decisions.at(-1)).toMatchObject({
      action: 'start',
      verdict: 'refused',
      code: 'detachedNotAllowed',
    });
  });

  it('has its limits where it is kept, and with the next manager', async () => {
    const limits = { memoryBytes: 2 ** 30 };
    const allowed = [{ path: program.path, detached: GRANT, limits }];
    const first = harness.manager([], { allowed });
    const run = await first.start(requestFor(program, { keeping }));
    const [kept] = keeping.started;
    if (kept === undefined) throw new Error('nothing was started');
    expect(kept.command.limits).toEqual(limits);
    await first.close();
    const adopted = manager().adopt(kept.run, kept.tree, new TestOwner('detached:web'), 'detached');
    expect(adopted.limits).toEqual(run.limits);
    expect(adopted.limits).toMatchObject(limits);
  });

  it('is started again only where its entry grants that, too', async () => {
    const restarting: Keeping = {
      lifetime: 'detached',
      mayRestart: true,
      start: (...given) => keeping.start(...given),
    };
    expect(await codeOf(manager().start(requestFor(program, { keeping: restarting })))).toBe(
      'detachedNotAllowed',
    );
    const allowed = [
      { path: program.path, detached: { ...GRANT, restart: { delayMs: 1, maxDelayMs: 1 } } },
    ];
    const request = requestFor(program, { keeping: restarting });
    const run = await harness.manager([], { allowed }).start(request);
    expect(run.lifetime).toBe('detached');
  });

  it('needs neither an entry of the list nor a digest when the host itself grants it, and has what is pinned', async () => {
    const grantedBy = { path: program.path, detached: GRANT };
    const request = { path: program.path, args: [], envs: [], owner: new TestOwner() };
    const empty = harness.manager([]);
    const pinned = { ...grantedBy, sha256: ['a'.repeat(64)] };
    const detached = { keeping };
    expect(await codeOf(empty.start({ ...request, ...detached, grantedBy: pinned }))).toBe(
      'digestNotPinned',
    );
    expect(await codeOf(empty.start({ ...request, ...detached }))).toBe('pathNotAllowed');
    const run = await empty.start({ ...request, ...detached, grantedBy });
    expect(run.sha256).toBe(program.sha256);
  });

  it('starts where it is to be kept, with the grant of its entry', async () => {
    const run = await manager().start(requestFor(program, { keeping }));
    expect(keeping.grant).toEqual(GRANT);
    expect(keeping.started[0]?.run).toMatchObject({ mark: run.mark, path: program.path });
    expect(run.lifetime).toBe('detached');
  });

  it('needs no lease, and outlives its manager', async () => {
    const first = harness.manager([], {
      allowed: [{ path: program.path, detached: GRANT }],
      limits: { leaseTimeoutMs: 1 },
      graceMs: 50,
    });
    const run = await first.start(requestFor(program, { keeping }));
    const other = harness.program('other', 'exec sleep 60');
    first.setAllowed([{ path: other.path }]);
    // The other run starts later. Once its lease has timed out, the lease timeout has passed for `run` too.
    expect(await (await first.start(requestFor(other))).ended).toMatchObject({
      reason: 'leaseNeverHeld',
    });
    await first.close();
    expect(run.state.kind).toBe('running');
    expect(isRunning(run.pid)).toBe(true);
  });

  it('is left alone by the recovery of the next manager, which adopts it and reports its end', async () => {
    const first = manager();
    await first.start(requestFor(program, { keeping }));
    await first.close();
    const second = manager();
    expect(await second.recover()).toEqual([]);
    const [kept] = keeping.started;
    if (kept === undefined) throw new Error('nothing was started');
    const owner = new TestOwner('detached:web');
    const adopted = second.adopt(kept.run, kept.tree, owner, 'detached');
    expect(adopted).toMatchObject({ ...kept.run, pid: kept.tree.pid, lifetime: 'detached' });
    expect(adopted.startedAtMs).toBe(STARTED_AT_MS);
    expect(second.list()).toContain(adopted);
    expect(await codeOf(() => second.find({ value: kept.run.name }))).toBe('notFound');
    expect(await codeOf(() => second.adopt(kept.run, kept.tree, owner, 'detached'))).toBe(
      'alreadyRunning',
    );
    expect(await adopted.stop(owner.id)).toMatchObject({ signal: 'SIGTERM', reason: 'stopped' });
    expect(harness.events).toContainEqual(
      expect.objectContaining({ type: 'ended', mark: kept.run.mark }),
    );
    expect(await manager().recover()).toEqual([]);
    await second.start(requestFor(program));
  });

  it('takes no name: it runs beside others of its program, each from a copy of its own', async () => {
    const both = manager();
    const plain = await both.start(requestFor(program));
    const one = await both.start(requestFor(program, { keeping }));
    const two = await both.start(requestFor(program, { keeping, replace: true }));
    const copies = [plain, one, two].map(({ stagedPath }) => stagedPath);
    expect(new Set(copies).size).toBe(3);
    for (const copy of copies) expect(copy).toContain('rancher-wins-tool');
    expect([plain, one, two].map(({ state }) => state.kind)).toEqual(Array(3).fill('running'));
    expect(both.find({ value: plain.name })).toBe(plain);
    await plain.stop(plain.owner.id);
    for (const run of [one, two]) await run.stop(run.owner.id);
    while (copies.slice(1).some((copy) => existsSync(copy))) await nextTurn();
  });

  it('leaves no copy behind, also when it ended without a manager or its start fails', async () => {
    const first = manager();
    await first.start(requestFor(program, { keeping }));
    await first.close();
    await keeping.endAll();
    const [kept] = keeping.started;
    if (kept === undefined) throw new Error('nothing was started');
    const lost = `${program.path.replace('/tool', '/rancher-wins-tool')}.0a1b2c3d`;
    writeFileSync(lost, '');
    const second = manager();
    await second.recover();
    const failing: Keeping = {
      lifetime: 'detached',
      start: () => Promise.reject(new Error('no keeper')),
    };
    expect(await codeOf(second.start(requestFor(program, { keeping: failing })))).toBe('unknown');
    const exit = { code: 3, reason: 'exited' } as const;
    const output = { stdoutBytes: 0, stderrBytes: 0, pauses: 0 };
    second.reportEnded(kept.run, exit, { usage: undefined, output });
    const left = (): readonly string[] =>
      readdirSync(harness.programs).filter((name) => /^rancher-wins-tool\./.test(name));
    while (left().length > 0) await nextTurn();
    expect(existsSync(lost)).toBe(false);
  });

  it('has the output and the figures that its keeper has', async () => {
    const noisy = harness.program('tool', 'echo out; echo err >&2; exec sleep 60');
    const run = await manager().start(requestFor(noisy, { keeping }));
    const output = { stdoutBytes: 4, stderrBytes: 4, pauses: 0 };
    await untilOutput(run.read(run.owner.id), 'out\n');
    while ((await run.measure()).output.stderrBytes < 4) await nextTurn();
    expect((await run.measure()).output).toEqual(output);
    await run.stop(run.owner.id);
    expect(harness.events.at(-1)).toMatchObject({ type: 'ended', figures: { output } });
  });

  it('that ended while there was no manager is reported as others are, and nothing remembers it', async () => {
    const first = manager();
    const run = await first.start(requestFor(program, { keeping }));
    await first.close();
    await keeping.endAll();
    const second = manager();
    const [kept] = keeping.started;
    if (kept === undefined) throw new Error('nothing was started');
    const exit = { code: 3, reason: 'exited' } as const;
    const output = { stdoutBytes: 7, stderrBytes: 1, pauses: 2 };
    second.reportEnded(kept.run, exit, { usage: undefined, output });
    const { mark, name, path, entry } = run;
    await nextTurn();
    const figures = { usage: undefined, output };
    const ended = { type: 'ended', mark, name, path, entry, exit, figures };
    expect(harness.events).toContainEqual(ended);
    expect(await new RunFolders(harness.stateDirectory).read()).toMatchObject({ records: [] });
  });

  describe('while a client holds it', () => {
    const CLIENT = new TestOwner('pipe:7');
    async function held(owner = new TestOwner()) {
      keeping.lifetime = 'lease';
      const run = await manager().start(requestFor(program, { keeping, owner }));
      return { run, owner };
    }
    async function adopted(leaseTimeoutMs = 30_000) {
      const { run } = await held();
      const [kept] = keeping.started;
      if (kept === undefined) throw new Error('nothing was started');
      const next = harness.manager([], { allowed: [], limits: { leaseTimeoutMs } });
      const again = next.adopt(kept.run, kept.tree, new TestOwner('detached:x'), 'lease');
      return { again, next, runId: run.runId };
    }

    it('ends with its client, as every other', async () => {
      const { run, owner } = await held();
      run.holdLease(owner.id);
      owner.disconnect();
      expect(await run.ended).toMatchObject({ reason: 'ownerDisconnected' });
    });

    it('outlives its manager', async () => {
      const first = manager();
      keeping.lifetime = 'lease';
      const run = await first.start(requestFor(program, { keeping }));
      await first.close();
      expect([run.state.kind, isRunning(run.pid)]).toEqual(['running', true]);
    });

    it('is given to the connection that knows its id, and ends with that connection', async () => {
      const { again, next, runId } = await adopted();
      expect(next.find({ value: again.name, runId })).toBe(again);
      again.giveTo(CLIENT, 'f'.repeat(32));
      expect(await codeOf(() => again.holdLease(CLIENT.id))).toBe('notOwner');
      again.giveTo(CLIENT, runId);
      again.giveTo(new TestOwner('pipe:8'), runId);
      again.holdLease(CLIENT.id);
      expect(again).toMatchObject({ runId, owner: CLIENT });
      CLIENT.disconnect();
      expect(await again.ended).toMatchObject({ reason: 'ownerDisconnected' });
    });

    it('ends when its client does not come in time', async () => {
      const { again } = await adopted(1);
      expect(await again.ended).toMatchObject({ reason: 'leaseNeverHeld' });
    });

    it.each<[string, Partial<AllowedExecutable>, boolean]>([
      ['without a grant of its entry', {}, false],
      ['that its keeper does not take', { detached: GRANT }, true],
    ])('is a run like any other %s', async (_what, entry, isAsked) => {
      let asked = false;
      const unwilling: Keeping = {
        lifetime: 'lease',
        start: () => {
          asked = true;
          return Promise.resolve(undefined);
        },
      };
      const plain = harness.manager([], { allowed: [{ path: program.path, ...entry }] });
      const run = await plain.start(requestFor(program, { keeping: unwilling }));
      expect([asked, run.lifetime]).toEqual([isAsked, 'connection']);
      await plain.close();
      expect(await run.ended).toMatchObject({ reason: 'daemonStopping' });
    });
  });

  it('is ended by the recovery of the next manager when its keeper is dead', async () => {
    const first = manager();
    const run = await first.start(requestFor(program, { keeping }));
    const [kept] = keeping.started;
    if (kept === undefined) throw new Error('nothing was started');
    const record = { supervisor: DEAD, run: kept.run };
    const folders = new RunFolders(harness.stateDirectory);
    folders.reserve(record);
    folders.write({ ...record, pid: run.pid, startToken: kept.tree.startToken });
    await first.close();
    const recovered = await harness
      .manager([], { allowed: [], host: { ...realHost(), isDaemonAlive: () => false } })
      .recover();
    expect(recovered).toMatchObject([{ pid: run.pid, mark: run.mark }]);
    expect(isRunning(run.pid)).toBe(false);
  });
});

const DEAD = '1:1.gone';
