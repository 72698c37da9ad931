import { createProcessManager, type AllowedExecutable } from '@wins/process-manager';
import type { KeptProgram } from '@wins/config';
import type { Clock } from '@wins/time';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
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
import { Keeper } from './keeper/keeper.js';
import { wantedPrograms } from './kept-programs.js';
import { RunFolders } from './run-folders.js';
import { stateOf, type Kept, type LastingEvent } from './kept-run.js';
import { LastingRuns } from './lasting-runs.js';

const GRANT = { maxRuns: 4, spoolBytes: 2 ** 20, maxAgeMs: 1e6, restart: true };

class WaitingClock implements Clock {
  isHeld = false;
  #held: (() => void)[] = [];

  now(): Date {
    return new Date();
  }

  wait(_ms: number, signal?: AbortSignal): Promise<void> {
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
  let events: LastingEvent[];
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
  const entry = (): AllowedExecutable => ({ path: programPath(), lasting: GRANT });

  function program(script: string) {
    writeFileSync(programPath(), `#!/bin/sh\n${script}\n`);
    chmodSync(programPath(), 0o755);
    const sha256 = createHash('sha256').update(readFileSync(programPath())).digest('hex');
    return { path: programPath(), args: [], envs: [], sha256 };
  }

  async function startDaemon(allowed: readonly AllowedExecutable[] = [entry()]) {
    const kernel = kernelOf({
      system: { processHost: host },
      audit: { note: () => undefined },
    });
    const stateDirectory = path.join(folder, 'state');
    const manager = createProcessManager({
      ...{ allowed, stateDirectory, host, onDecision: () => undefined },
    });
    await manager.recover();
    const parts = { ...kernel, stateDirectory, processHost: host, program: '' };
    const resources = daemonResources(kernel.logger);
    const runs = new LastingRuns({ ...parts, resources, checksum: Promise.resolve('r') }, manager, {
      clock,
      onEvent: (event) => {
        events.push({ ...event, run: { ...event.run } });
      },
      startKeeper: async () => {
        const keeper = new Keeper({ stateDirectory, host, release: 'r', identify: undefined });
        keepers.push(keeper);
        await keeper.listen();
        void keeper.over.then(() => keeper.close());
        return keeper.record;
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
    daemon.runs.start(
      ...([program(script), { owner, client: ADMINISTRATOR }, 'web', policy] as const),
      new AbortController().signal,
    );
  const find = (): Kept => daemon.runs.find('web', ADMINISTRATOR);
  async function outputToTheEnd(): Promise<string> {
    let text = '';
    const { signal } = new AbortController();
    for await (const part of daemon.runs.read(find(), { follow: true, signal })) {
      expect(part).toMatchObject({ offset: text.length });
      if (part.stream !== 'skipped') text += part.bytes.toString();
    }
    return text;
  }
  async function toldOf(type: LastingEvent['type'], count = 1): Promise<LastingEvent> {
    const found = (): readonly LastingEvent[] => events.filter((event) => event.type === type);
    await until(() => found().length >= count);
    return found()[count - 1] as LastingEvent;
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
    change(path.join(folder, 'state', 'lasting'));
    await expect(startDaemon()).rejects.toMatchObject({ code: 'stateUnavailable' });
  });

  it('does not mistake a process with the PID of a dead keeper for it, and sends nothing to it', async () => {
    const kept = path.join(folder, 'state', 'lasting');
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

  it('has one name and one output over all attempts, and gives up after five short ones', async () => {
    await start('echo life; exit 3', 'always');
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
      ({ manager }) => manager.setAllowed([{ ...entry(), lasting: { ...GRANT, restart: false } }]),
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
    expect(stateOf(find())).toBe('ended');
    await daemon.runs.remove('web', ADMINISTRATOR, owner.id);
    clock.isHeld = true;
    await start('echo life; exit 3', 'always');
    await toldOf('runRestarts');
    expect(stateOf(find())).toBe('waiting');
    const following = outputToTheEnd().catch(() => 'removed');
    await daemon.runs.remove('web', ADMINISTRATOR, owner.id);
    await following;
    clock.release();
    expect(daemon.runs.list(ADMINISTRATOR)).toEqual([]);
    expect(daemon.manager.list().every(({ state }) => state.kind === 'ended')).toBe(true);
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
    expect(find().plan).toMatchObject({ restarts: 1, failures: 1, shortLives: 1 });
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
    expect(find().plan).toMatchObject({ restarts: 1, failures: 1 });
  });

  it('needs the grant of its entry, and a policy that there is', async () => {
    await expect(start('exit 0', 'often')).rejects.toMatchObject({ code: 'invalidArgument' });
    daemon.manager.setAllowed([{ ...entry(), lasting: { ...GRANT, restart: false } }]);
    await expect(start('exit 0', 'always')).rejects.toMatchObject({ code: 'lastingNotAllowed' });
    await start('exit 0', 'no');
    expect(await outputToTheEnd()).toBe('');
    expect(daemon.runs.list(CONTAINER)).toEqual([]);
  });

  describe('by the config, which keeps it', () => {
    const tool = (name: string, more: Partial<KeptProgram> = {}): KeptProgram => {
      const file = path.join(folder, 'bin', name);
      return { path: file, args: [], envs: {}, restart: 'always', ...more };
    };
    const write = (name: string, script: string): void => {
      const whole = path.join(folder, 'whole');
      writeFileSync(whole, `#!/bin/sh\n${script}\n`);
      chmodSync(whole, 0o755);
      renameSync(whole, tool(name).path);
    };
    const kept = (label: string): Kept | undefined =>
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
      for await (const part of daemon.runs.read(kept('two') as Kept, { follow: true, signal })) {
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
      expect(kept('late')).toMatchObject({ process: undefined });
      write('late', 'exit 1');
      await toldOf('runGaveUp');
      expect(kept('late')?.plan?.next).toMatchObject({ kind: 'gaveUp', why: 'burst' });
      reload([tool('late'), tool('one')]);
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
        daemon.runs.start(
          ...([program('exit 0'), { owner, client: ADMINISTRATOR }, 'keep:tool', ''] as const),
          new AbortController().signal,
        ),
      ).rejects.toThrow('its name is not valid');
    });

    it('has a name and a program of its own, or is left out', () => {
      const named = (programs: readonly KeptProgram[]): readonly string[] =>
        wantedPrograms({ keep: programs }, 'posix').map(({ label }) => label);
      const other = { ...tool('one'), path: '/elsewhere/one' };
      expect(named([tool('one'), other, tool('two', { name: 'one' })])).toEqual(['keep:one']);
      expect(named([tool('one', { path: 'one' }), tool('two')])).toEqual(['keep:two']);
      expect(named([tool('one', { args: ['x'.repeat(300_000)] })])).toEqual([]);
    });
  });
});
