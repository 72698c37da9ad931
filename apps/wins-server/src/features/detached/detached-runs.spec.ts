import { SPOOLS } from './feature.js';
import {
  createProcessManager,
  DetachedRuns,
  Keeper,
  ProcessError,
  RunFolders,
  stateOf,
  type AllowedExecutable,
  type DetachedEvent,
  type DetachedRun,
  type DetachedRunsOptions,
  type ManagedProcess,
} from '@wins/process-manager';
import { privateTransport } from '@wins/pipe-transport';
import type { ClientIdentity } from '@wins/base';
import { DEFAULT_BACKOFF, type KeptProgram } from '@wins/config';
import type { Clock } from '@wins/time';
import { createHash } from 'node:crypto';
import { once, type Abortable } from 'node:events';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setImmediate as turn } from 'node:timers/promises';
import { daemonResources } from '../../kernel/admission/daemon-resources.js';
import { posixProcessHost } from '../../posix.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { wantedPrograms } from './kept-programs.js';

const GRANT = { maxRuns: 4, spoolBytes: 2 ** 20, maxAgeMs: 1e6, restart: { ...DEFAULT_BACKOFF } };

type Restarts = Extract<DetachedEvent, { readonly type: 'runRestarts' | 'runGaveUp' }>;

const transport = privateTransport();

class WaitingClock implements Clock {
  isHeld = false;
  #held: (() => void)[] = [];

  now(): Date {
    return new Date();
  }

  monotonicMs(): number {
    return performance.now();
  }

  wait(_ms: number, { signal }: Abortable = {}): Promise<void> {
    signal?.throwIfAborted();
    if (!this.isHeld) return turn();
    return new Promise((resolve, reject) => {
      this.#held.push(resolve);
      signal?.addEventListener('abort', () => reject(signal.reason as Error));
    });
  }

  release(): void {
    this.isHeld = false;
    for (const resolve of this.#held.splice(0)) resolve();
  }
}

describe('a run that is started again', () => {
  const host = posixProcessHost();
  let folder: string;
  let clock: WaitingClock;
  let events: Restarts[];
  let daemon: Awaited<ReturnType<typeof startDaemon>>;
  let keep: readonly KeptProgram[];
  const keepers: Keeper[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'l-'));
    mkdirSync(path.join(folder, 'bin'), { mode: 0o755 });
    clock = new WaitingClock();
    events = [];
    keep = [];
    daemon = await startDaemon();
  });
  afterEach(async () => {
    await daemon.close();
    for (const keeper of keepers.splice(0)) {
      keeper.endAll();
      await keeper.over;
      await keeper.close();
    }
    rmSync(folder, { recursive: true, force: true });
  });

  async function until(isTrue: () => boolean): Promise<void> {
    while (!isTrue()) await turn();
  }

  const programPath = (): string => path.join(folder, 'bin', 'tool');
  const entry = (): AllowedExecutable => ({ path: programPath(), detached: GRANT });

  function program(script: string) {
    writeFileSync(programPath(), `#!/bin/sh\n${script}\n`);
    chmodSync(programPath(), 0o755);
    const sha256 = createHash('sha256').update(readFileSync(programPath())).digest('hex');
    return { path: programPath(), args: [], envs: [], sha256 };
  }

  async function startDaemon(
    allowed: readonly AllowedExecutable[] = [entry()],
    more: Pick<DetachedRunsOptions, 'sessionStart' | 'onDecision'> = {},
  ) {
    const stateDirectory = path.join(folder, 'state');
    const manager = createProcessManager({ allowed, stateDirectory, host });
    await manager.recover();
    const resources = daemonResources(kernelOf({}).logger);
    const start = async () => {
      const keeper = new Keeper({ stateDirectory, host, release: 'r', transport });
      keepers.push(keeper);
      await keeper.listen();
      void keeper.over.then(() => keeper.close());
      return keeper.record;
    };
    const runs = new DetachedRuns(manager, {
      stateDirectory,
      host,
      keepers: { release: 'r', transport, start },
      spools: resources.of('spools', SPOOLS),
      ...more,
      clock,
      onEvent: (event) => {
        if ('next' in event || 'waitMs' in event) events.push({ ...event, run: { ...event.run } });
      },
    });
    runs.keep(wantedPrograms({ keep }, 'posix'));
    await runs.adopt();
    const close = async (): Promise<void> => {
      await runs.close();
      await manager.close();
      resources[Symbol.dispose]();
    };
    return { runs, manager, close };
  }

  const owner = { id: 'pipe:1', disconnected: new AbortController().signal };
  const start = (script: string, policy: string): Promise<string> =>
    daemon.runs.start(program(script), {
      by: { requester: owner.id, client: ADMINISTRATOR },
      name: 'web',
      restart: policy,
    });
  const find = (): DetachedRun => daemon.runs.find('web', ADMINISTRATOR);
  async function outputToTheEnd(): Promise<string> {
    let text = '';
    const { signal } = new AbortController();
    for await (const part of daemon.runs.read(find(), { follow: true, signal })) {
      expect(part).toMatchObject({ offset: text.length });
      if (part.stream !== 'skipped') text += part.bytes.toString();
    }
    return text;
  }
  async function toldOf(type: DetachedEvent['type'], count = 1): Promise<DetachedEvent> {
    const found = (): readonly DetachedEvent[] => events.filter((event) => event.type === type);
    await until(() => found().length >= count);
    return found()[count - 1] as DetachedEvent;
  }
  async function written(text: string): Promise<void> {
    let seen = '';
    const reading = new AbortController();
    for await (const part of daemon.runs.read(find(), { follow: true, signal: reading.signal })) {
      if (part.stream !== 'skipped') seen += part.bytes.toString();
      if (seen.includes(text)) return;
    }
  }

  it.each<[string, (kept: string) => void]>([
    ['others can write to', (kept) => chmodSync(kept, 0o777)],
    [
      'a link leads to',
      (kept) => {
        renameSync(kept, `${kept}.elsewhere`);
        symlinkSync(`${kept}.elsewhere`, kept);
      },
    ],
  ])('is not read from a folder that %s', async (_why, change) => {
    await start('exit 0', 'no');
    await outputToTheEnd();
    change(path.join(folder, 'state', 'runs'));
    await expect(startDaemon()).rejects.toMatchObject({ code: 'stateUnavailable' });
  });

  it('does not mistake a process with the PID of a dead keeper for it, and sends nothing to it', async () => {
    const kept = path.join(folder, 'state', 'runs');
    const socket = path.join(folder, 'state', 'k.squatter');
    let accepted = 0;
    const squatter = createServer(() => (accepted += 1)).listen(socket);
    await once(squatter, 'listening');
    mkdirSync(kept, { recursive: true, mode: 0o700 });
    const keeper = `${process.pid}:1`;
    const record = new RunFolders(path.dirname(kept)).keeper(keeper);
    await record.write({ version: 1, keeper, socket, token: 'f'.repeat(64), release: 'r' });
    const next = await startDaemon();
    expect([accepted, await record.read()]).toEqual([0, undefined]);
    await next.close();
    squatter.close();
  });

  it('has one name and one output over all attempts, and gives up when its policy says so', async () => {
    await start('echo life; exit 3', 'on-failure:4');
    const marks = new Set([find().facts.run.mark]);
    expect(await outputToTheEnd()).toBe('life\n'.repeat(5));
    expect(stateOf(find())).toBe('gaveUp');
    expect(find()).toMatchObject({ end: { code: 3 }, plan: { restarts: 4 } });
    for (const { run } of events) marks.add(run.facts.run.mark);
    expect(marks.size).toBe(5);
    expect(events.map(({ type }) => type)).toEqual([
      ...Array<string>(4).fill('runRestarts'),
      'runGaveUp',
    ]);
    // The next daemon reads that the run was given up, and does not restart it.
    await daemon.close();
    daemon = await startDaemon();
    expect([stateOf(find()), events.length]).toEqual(['gaveUp', 5]);
    expect(await outputToTheEnd()).toBe('life\n'.repeat(5));
  });

  it.each([
    ['on-failure:2', 'exit 3', 3, 'gaveUp'],
    ['on-failure', 'exit 0', 1, 'ended'],
    ['no', 'exit 3', 1, 'ended'],
  ])('lives by its policy: %s of "%s" has %i lives', async (policy, script, lives, state) => {
    await start(`echo life; ${script}`, policy);
    expect(await outputToTheEnd()).toBe('life\n'.repeat(lives));
    expect(stateOf(find())).toBe(state);
  });

  it.each<[string, string, (daemon: Awaited<ReturnType<typeof startDaemon>>) => void]>([
    ['its entry is gone', 'no program may run', ({ manager }) => manager.setAllowed([])],
    [
      'its entry does not grant it any more',
      'Add "restart: true"',
      ({ manager }) =>
        manager.setAllowed([
          { ...entry(), detached: { maxRuns: 4, spoolBytes: 2 ** 20, maxAgeMs: 1e6 } },
        ]),
    ],
    ['its program has other bytes', 'wanted the same file', () => void program('echo other')],
  ])('is not started again when %s, and says so', async (_what, reason, change) => {
    clock.isHeld = true;
    await start('echo life; exit 3', 'always');
    await toldOf('runRestarts');
    change(daemon);
    clock.release();
    expect(await outputToTheEnd()).toBe('life\n');
    const { plan } = find();
    expect(plan?.next).toMatchObject({ kind: 'gaveUp', why: 'refused' });
    expect(plan?.next).toMatchObject({ reason: expect.stringContaining(reason) as string });
  });

  it('ends for good when it is stopped, and is forgotten when it is removed while it waits', async () => {
    await start('echo up; exec sleep 60', 'always');
    await written('up\n');
    const { process } = find();
    await process?.stop(owner.id, { runId: process.runId });
    expect(await outputToTheEnd()).toBe('up\n');
    expect(stateOf(find())).toBe('stopped');
    await daemon.runs.remove('web', { client: ADMINISTRATOR, requester: owner.id });
    clock.isHeld = true;
    await start('echo life; exit 3', 'always');
    await toldOf('runRestarts');
    expect(stateOf(find())).toBe('waiting');
    const following = outputToTheEnd().catch(() => 'removed');
    await daemon.runs.remove('web', { client: ADMINISTRATOR, requester: owner.id });
    await following;
    clock.release();
    expect(daemon.runs.list(ADMINISTRATOR)).toEqual([]);
    expect(daemon.manager.list().every(({ state }) => state.kind === 'ended')).toBe(true);
  });

  it('stays while its removal cannot be recorded', async () => {
    await start('exit 3', 'no');
    await outputToTheEnd();
    await daemon.close();
    const refusal = new ProcessError('auditUnavailable', 'the disk is full');
    daemon = await startDaemon([entry()], { onDecision: () => Promise.reject(refusal) });
    const removed = daemon.runs.remove('web', { client: ADMINISTRATOR, requester: owner.id });
    await expect(removed).rejects.toBe(refusal);
    expect(stateOf(find())).toBe('ended');
  });

  it('is started again by the next daemon when it ended while there was none, with its counters', async () => {
    const file = (name: string): string => path.join(folder, name);
    const isSecond = `[ -e ${file('lived')} ] && echo life && exec sleep 60`;
    const wait = `while [ ! -e ${file('go')} ]; do sleep 0.02; done`;
    await start(`${isSecond}; : > ${file('lived')}; echo life; ${wait}; exit 3`, 'always');
    await written('life\n');
    await daemon.close();
    writeFileSync(file('go'), '');
    await keepers[0]?.over;
    daemon = await startDaemon();
    await written('life\nlife\n');
    expect(stateOf(find())).toBe('running');
    expect(find().plan).toMatchObject({ restarts: 1, failures: 1 });
  });

  it('ends with the system, and is started again by the daemon of the next start', async () => {
    await start('echo up; exec sleep 60', 'always');
    await written('up\n');
    await daemon.runs.endAll();
    await daemon.close();
    await keepers[0]?.over;
    expect(events.filter(({ type }) => type === 'runGaveUp')).toEqual([]);
    daemon = await startDaemon();
    await written('up\nup\n');
    expect(stateOf(find())).toBe('running');
  });

  it('continues to wait under the next daemon, which judges it by its own whitelist', async () => {
    clock.isHeld = true;
    await start('echo life; exit 3', 'always');
    await toldOf('runRestarts');
    await daemon.close();
    daemon = await startDaemon([]);
    expect(stateOf(find())).toBe('waiting');
    clock.release();
    expect(await toldOf('runGaveUp')).toMatchObject({ next: { why: 'refused' } });
    expect(find().plan).toMatchObject({ restarts: 0, failures: 1 });
  });

  it('is not started again without the record of its request, and says so', async () => {
    await start('exit 0', 'no');
    await outputToTheEnd();
    const file = path.join(folder, 'state', 'runs', find().facts.run.mark, 'restart.json');
    await daemon.close();
    rmSync(file);
    daemon = await startDaemon();
    const by = { client: ADMINISTRATOR, requester: owner.id };
    const { signal } = new AbortController();
    await expect(daemon.runs.startAgain('web', by, { signal })).rejects.toThrow(
      'missing or damaged',
    );
    expect(stateOf(find())).toBe('ended');
  });

  it('needs the grant of its entry, and a policy that there is', async () => {
    await expect(start('exit 0', 'often')).rejects.toMatchObject({ code: 'invalidArgument' });
    daemon.manager.setAllowed([
      { ...entry(), detached: { maxRuns: 4, spoolBytes: 2 ** 20, maxAgeMs: 1e6 } },
    ]);
    await expect(start('exit 0', 'always')).rejects.toMatchObject({ code: 'detachedNotAllowed' });
    await start('exit 0', 'no');
    expect(await outputToTheEnd()).toBe('');
    expect(daemon.runs.list(CONTAINER)).toEqual([]);
  });

  describe('and whose name belongs to its owner', () => {
    const OTHER: ClientIdentity = { ...CONTAINER, key: 'container:other', description: {} };
    const by = (client: ClientIdentity) => ({ client, requester: owner.id });
    const { signal } = new AbortController();
    const STAYS = 'echo up; exec sleep 60';
    /** Starts a run of `client`, with options of the request. */
    const startAs = (client: ClientIdentity, script: string, label = 'web', more = {}) =>
      daemon.runs.start(
        { ...program(script), ...more },
        { by: { requester: owner.id, client }, name: label, restart: 'always' },
      );
    const labelsOf = (client: ClientIdentity): readonly string[] =>
      daemon.runs.list(client).map((run) => daemon.runs.nameFor(run, client));
    const living = (): number =>
      daemon.manager.list().filter(({ state }) => state.kind !== 'ended').length;
    const waiting = async (client: ClientIdentity): Promise<DetachedRun> => {
      clock.isHeld = true;
      await startAs(client, 'echo life; exit 3');
      await toldOf('runRestarts');
      return daemon.runs.find('web', client);
    };

    it.each(['web', 'rancher-wins-tool'])(
      'is ended for good by a stop of %s while it waits, also with the next daemon',
      async (name) => {
        const run = await waiting(CONTAINER);
        const stop = name === 'web' ? 'stop' : 'stopProcess';
        const end = await daemon.runs[stop](name, by(CONTAINER));
        expect(end).toMatchObject({ code: 3, reason: 'stopped' });
        clock.release();
        expect([stateOf(run), living()]).toEqual(['stopped', 0]);
        await daemon.close();
        daemon = await startDaemon();
        expect(stateOf(daemon.runs.find('web', CONTAINER))).toBe('stopped');
        expect(living()).toBe(0);
      },
    );

    it('is started again on request, at once during a back-off, and then counts no restart', async () => {
      const run = await waiting(CONTAINER);
      program(STAYS);
      await expect(daemon.runs.startAgain('web', by(CONTAINER), { signal })).rejects.toMatchObject({
        code: 'checksumMismatch',
      });
      expect(stateOf(run)).toBe('waiting');
      program('echo life; exit 3');
      await daemon.runs.startAgain('web', by(CONTAINER), { signal });
      expect(run.plan).toMatchObject({ restarts: 0 });
      await toldOf('runRestarts', 2);
      await daemon.runs.stop('web', by(CONTAINER));
      await daemon.runs.startAgain('web', by(ADMINISTRATOR), { signal });
      await toldOf('runRestarts', 3);
    });

    it('is restarted once the next attempt is admitted: a refused restart leaves the old one', async () => {
      await startAs(CONTAINER, STAYS);
      const first = daemon.runs.find('web', CONTAINER).facts.pid;
      program('echo other bytes');
      await expect(daemon.runs.restart('web', by(CONTAINER), { signal })).rejects.toMatchObject({
        code: 'checksumMismatch',
      });
      expect([daemon.runs.find('web', CONTAINER).facts.pid, living()]).toEqual([first, 1]);
      program(STAYS);
      const { facts } = await daemon.runs.restart('web', by(CONTAINER), { signal });
      expect([facts.pid === first, living()]).toEqual([false, 1]);
    });

    it.each(['running', 'waiting', 'stopped'] as const)(
      'is replaced under its name while it is %s, and a refused replacement leaves it',
      async (state) => {
        if (state === 'running') await startAs(CONTAINER, STAYS);
        else await waiting(CONTAINER);
        if (state === 'stopped') await daemon.runs.stop('web', by(CONTAINER));
        const wrong = { replace: true, sha256: 'a'.repeat(64) };
        await expect(startAs(CONTAINER, STAYS, 'web', wrong)).rejects.toMatchObject({
          code: 'checksumMismatch',
        });
        expect(stateOf(daemon.runs.find('web', CONTAINER))).toBe(state);
        await expect(startAs(CONTAINER, STAYS)).rejects.toThrow('--replace');
        const ended = daemon.runs.find('web', CONTAINER).process?.ended;
        await startAs(CONTAINER, `${STAYS} 1`, 'web', { replace: true });
        expect(state === 'running' ? (await ended)?.reason : 'replaced').toBe('replaced');
        expect([labelsOf(CONTAINER), living()]).toEqual([['web'], 1]);
        expect(daemon.runs.find('web', CONTAINER).plan).toMatchObject({ restarts: 0 });
      },
    );

    it('is no obstacle to a run of that name of another client, and tells it nothing', async () => {
      await startAs(CONTAINER, STAYS);
      await startAs(OTHER, STAYS);
      expect([labelsOf(CONTAINER), labelsOf(OTHER), living()]).toEqual([['web'], ['web'], 2]);
      await daemon.runs.remove('web', by(OTHER));
      expect([labelsOf(CONTAINER), labelsOf(OTHER), living()]).toEqual([['web'], [], 1]);
      expect(() => daemon.runs.find('web', OTHER)).toThrow('no detached run of this client');
    });

    it.each([
      ['another client', OTHER],
      ['a later session with the number of its own', { ...CONTAINER, description: { session: 2 } }],
    ])('is not there for %s that knows the name of its process', async (_who, stranger) => {
      let session = 'first';
      await daemon.close();
      daemon = await startDaemon(undefined, { sessionStart: () => session });
      const client = { ...CONTAINER, description: { session: 2 } };
      await startAs(client, STAYS);
      const process = daemon.runs.find('web', client).process as ManagedProcess;
      session = 'second';
      for (const force of [false, true]) {
        const end = await daemon.runs.stopProcess(process.name, by(stranger), { force });
        expect([end, process.state.kind]).toEqual([undefined, 'running']);
      }
      expect(labelsOf(stranger)).toEqual([]);
      session = 'first';
      expect(labelsOf(client)).toEqual(['web']);
      const end = await daemon.runs.stopProcess(process.name, by(client));
      expect(end).toMatchObject({ reason: 'stopped' });
    });

    it('is OWNER/NAME for administrators, and the bare name if only one fits', async () => {
      await startAs(CONTAINER, STAYS);
      expect(daemon.runs.find('web', ADMINISTRATOR).facts.owner.key).toBe(CONTAINER.key);
      await startAs(OTHER, STAYS);
      const names = labelsOf(ADMINISTRATOR);
      expect(names).toEqual([
        expect.stringMatching(/^[0-9a-f]{12}\/web$/),
        expect.stringMatching(/^[0-9a-f]{12}\/web$/),
      ]);
      expect(() => daemon.runs.find('web', ADMINISTRATOR)).toThrow('fits 2 detached runs');
      await startAs(ADMINISTRATOR, STAYS);
      expect(labelsOf(ADMINISTRATOR)).toContain('web');
      await daemon.runs.stop(names[1] ?? '', by(ADMINISTRATOR));
      expect(stateOf(daemon.runs.find('web', OTHER))).toBe('stopped');
      expect(stateOf(daemon.runs.find('web', CONTAINER))).toBe('running');
    });

    it('is not removed for another client that reaches its number of runs', async () => {
      await startAs(CONTAINER, 'exit 3', 'mine');
      await daemon.runs.stop('mine', by(CONTAINER));
      for (const label of ['a', 'b', 'c', 'd', 'e']) {
        await startAs(OTHER, STAYS, label);
        await daemon.runs.stop(label, by(OTHER));
      }
      expect([labelsOf(CONTAINER), labelsOf(OTHER)]).toEqual([['mine'], ['b', 'c', 'd', 'e']]);
    });

    it('is refused to a container that the system tells by a number which it gives again', async () => {
      const mounts = { ...CONTAINER, description: { container: 'mounts:4026532253' } };
      await expect(startAs(mounts, STAYS)).rejects.toThrow('a later container may get');
      expect(daemon.runs.all()).toEqual([]);
    });
  });

  describe('by the config, which keeps it', () => {
    const tool = (name: string, more: Partial<KeptProgram> = {}): KeptProgram => {
      const file = path.join(folder, 'bin', name);
      return {
        path: file,
        args: [],
        envs: {},
        restart: { policy: 'always', ...DEFAULT_BACKOFF },
        ...more,
      };
    };
    const write = (name: string, script: string): void => {
      const whole = path.join(folder, 'whole');
      writeFileSync(whole, `#!/bin/sh\n${script}\n`);
      chmodSync(whole, 0o755);
      renameSync(whole, tool(name).path);
    };
    const kept = (label: string): DetachedRun | undefined =>
      daemon.runs.all().find((run) => run.label === `keep:${label}`);
    const pidOf = (label: string): number | undefined => kept(label)?.process?.pid;
    function reload(next: readonly KeptProgram[]): void {
      keep = next;
      daemon.runs.keep(wantedPrograms({ keep }, 'posix'));
    }
    beforeEach(() => {
      for (const name of ['one', 'two', 'three']) write(name, 'echo "$A $*"; exec sleep 60');
    });

    it('is started without a client or an entry, replaced when it changes, and ended when it is gone', async () => {
      reload([tool('one'), tool('two', { args: ['a b'], envs: { A: 'x' } })]);
      await until(() => pidOf('one') !== undefined && pidOf('two') !== undefined);
      const [one, two] = [pidOf('one'), pidOf('two')];
      const { signal } = new AbortController();
      for await (const part of daemon.runs.read(kept('two') as DetachedRun, {
        follow: true,
        signal,
      })) {
        if (part.stream !== 'skipped') expect(part.bytes.toString()).toBe('x a b\n');
        break;
      }
      reload([tool('one'), tool('two', { args: ['c'] }), tool('three')]);
      await until(() => pidOf('three') !== undefined && ![two, undefined].includes(pidOf('two')));
      expect(pidOf('one')).toBe(one);
      reload([tool('two', { args: ['c'] })]);
      await until(() => kept('one') === undefined && kept('three') === undefined);
      expect(daemon.runs.all()).toHaveLength(1);
    });

    it('keeps its process with the next daemon, and is ended by one that does not want it', async () => {
      reload([tool('one', { name: 'web' })]);
      await until(() => pidOf('web') !== undefined);
      const pid = pidOf('web');
      await daemon.close();
      daemon = await startDaemon([]);
      expect(pidOf('web')).toBe(pid);
      await daemon.close();
      keep = [];
      daemon = await startDaemon([]);
      await until(() => daemon.runs.all().length === 0);
    });

    it('is started again, also when it is not there yet, and tried anew by the next daemon when it was given up', async () => {
      reload([tool('late')]);
      await toldOf('runRestarts', 3);
      expect(kept('late')).toMatchObject({
        process: undefined,
        plan: { restarts: 0, failures: 0 },
      });
      reload([tool('late', { restart: { policy: 'on-failure:3', ...DEFAULT_BACKOFF } })]);
      write('late', 'exit 1');
      await toldOf('runGaveUp');
      expect(kept('late')?.plan?.next).toMatchObject({ kind: 'gaveUp', why: 'attempts' });
      expect(kept('late')?.plan).toMatchObject({ restarts: 3 });
      reload([
        tool('late', { restart: { policy: 'on-failure:3', ...DEFAULT_BACKOFF } }),
        tool('one'),
      ]);
      await until(() => pidOf('one') !== undefined);
      expect(events.filter(({ type }) => type === 'runGaveUp')).toHaveLength(1);
      await daemon.close();
      write('late', 'exec sleep 60');
      daemon = await startDaemon([]);
      await until(() => pidOf('late') !== undefined);
    });

    it('is refused, and says so, when others can write to its program, or it has other bytes', async () => {
      chmodSync(tool('one').path, 0o777);
      reload([tool('one'), tool('two', { sha256: ['a'.repeat(64)] })]);
      await toldOf('runGaveUp', 2);
      const reasons = ['one', 'two'].map((label) => kept(label)?.plan?.next);
      expect(reasons).toMatchObject([
        { why: 'refused', reason: expect.stringContaining('write') as string },
        { why: 'refused', reason: expect.stringContaining('pinned') as string },
      ]);
    });

    it('is seen by administrators alone, and no client can take its name', async () => {
      reload([tool('one')]);
      await until(() => pidOf('one') !== undefined);
      expect(daemon.runs.list(ADMINISTRATOR)).toHaveLength(1);
      expect(daemon.runs.list(CONTAINER)).toEqual([]);
      expect(() => daemon.runs.find('keep:one', CONTAINER)).toThrow(
        'no detached run of this client',
      );
      await expect(
        daemon.runs.start(program('exit 0'), {
          by: { requester: owner.id, client: ADMINISTRATOR },
          name: 'keep:tool',
        }),
      ).rejects.toThrow('its name is not valid');
    });

    it('belongs to the operator: a client neither learns of it, stops it nor takes its program', async () => {
      daemon.manager.setAllowed([{ path: tool('one').path, detached: GRANT }]);
      reload([tool('one')]);
      await until(() => pidOf('one') !== undefined);
      const { process } = kept('one') ?? {};
      if (process === undefined) throw new Error('it does not run');
      expect(daemon.runs.list(CONTAINER)).toEqual([]);
      expect(daemon.runs.list(ADMINISTRATOR).map(({ label }) => label)).toEqual(['keep:one']);
      const client = { client: CONTAINER, requester: owner.id };
      for (const name of ['keep:one', 'rancher-wins-one'])
        expect([
          await daemon.runs.stop(name, client),
          await daemon.runs.stopProcess(name, client),
        ]).toEqual([undefined, undefined]);
      const sha256 = createHash('sha256')
        .update(readFileSync(tool('one').path))
        .digest('hex');
      const request = { path: tool('one').path, args: [], envs: [], sha256, replace: true };
      await daemon.runs.start(request, { by: { requester: owner.id, client: CONTAINER } });
      expect(pidOf('one')).toBe(process.pid);
    });

    it('stays stopped when an administrator has stopped it, also with the next daemon, until somebody starts it', async () => {
      const administrator = { client: ADMINISTRATOR, requester: owner.id };
      reload([tool('one')]);
      await until(() => pidOf('one') !== undefined);
      await daemon.runs.stop('keep:one', administrator);
      await daemon.close();
      daemon = await startDaemon([]);
      const run = kept('one');
      expect(run && stateOf(run)).toBe('stopped');
      await daemon.runs.startAgain('keep:one', administrator, {
        signal: new AbortController().signal,
      });
      expect(pidOf('one')).toBeDefined();
    });

    it('waits under a new name until the run of the old one has ended, and counts no restart', async () => {
      write('one', `trap 'sleep 0.3; exit' TERM; echo up; while :; do sleep 0.02; done`);
      reload([tool('one', { name: 'a', restart: { policy: 'on-failure:1', ...DEFAULT_BACKOFF } })]);
      await until(() => pidOf('a') !== undefined);
      const before = kept('a')?.process?.ended;
      reload([tool('one', { name: 'b', restart: { policy: 'on-failure:1', ...DEFAULT_BACKOFF } })]);
      await until(() => pidOf('b') !== undefined);
      expect((await before)?.reason).toBe('stopped');
      expect(kept('b')?.plan).toMatchObject({ restarts: 0, failures: 0 });
      expect(events).toEqual([]);
    });

    it('has a name and a program of its own, or is left out', () => {
      const named = (programs: readonly KeptProgram[]): readonly string[] =>
        wantedPrograms({ keep: programs }, 'posix').map(({ label }) => label);
      const other = { ...tool('one'), path: '/elsewhere/one' };
      expect(named([tool('one'), other, tool('two', { name: 'one' })])).toEqual(['keep:one']);
      expect(named([tool('one'), { ...other, name: 'other' }])).toEqual(['keep:one', 'keep:other']);
      expect(named([tool('one', { path: 'one' }), tool('two')])).toEqual(['keep:two']);
      expect(named([tool('one', { args: ['x'.repeat(300_000)] })])).toEqual([]);
    });
  });
});
