import { createProcessManager, type AllowedExecutable } from '@wins/process-manager';
import type { Clock } from '@wins/time';
import { createHash } from 'node:crypto';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { daemonResources } from '../../kernel/admission/daemon-resources.js';
import { posixProcessHost } from '../../posix.js';
import { ADMINISTRATOR, CONTAINER } from '../../testing/client-identities.js';
import { kernelOf } from '../../testing/kernel-of.js';
import { Keeper } from './keeper/keeper.js';
import { LastingRuns, stateOf, type Kept, type LastingEvent } from './lasting-runs.js';

const GRANT = { maxRuns: 4, spoolBytes: 2 ** 20, maxAgeMs: 1e6, restart: true };

/** A clock whose waits are over at once, or when the spec says so. */
class WaitingClock implements Clock {
  isHeld = false;
  #held: (() => void)[] = [];

  now(): Date {
    return new Date();
  }

  wait(_ms: number, signal?: AbortSignal): Promise<void> {
    signal?.throwIfAborted();
    if (!this.isHeld) return Promise.resolve();
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
  let told: (() => void)[];
  const keepers: Keeper[] = [];

  beforeEach(async () => {
    folder = mkdtempSync(path.join(tmpdir(), 'l-'));
    mkdirSync(path.join(folder, 'bin'), { mode: 0o755 });
    clock = new WaitingClock();
    events = [];
    told = [];
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

  const programPath = (): string => path.join(folder, 'bin', 'tool');
  const entry = (): AllowedExecutable => ({ path: programPath(), lasting: GRANT });

  /** A script, and the request that an honest client makes for it. */
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
      allowed,
      stateDirectory,
      host,
      onDecision: () => undefined,
    });
    await manager.recover();
    const parts = { ...kernel, stateDirectory, processHost: host, program: '' };
    const resources = daemonResources(kernel.logger);
    const runs = new LastingRuns({ ...parts, resources, checksum: Promise.resolve('r') }, manager, {
      clock,
      onEvent: (event) => {
        events.push({ ...event, run: { ...event.run } });
        for (const tell of told.splice(0)) tell();
      },
      startKeeper: async () => {
        const keeper = new Keeper({ stateDirectory, host, release: 'r', identify: undefined });
        keepers.push(keeper);
        await keeper.listen();
        void keeper.over.then(() => keeper.close());
        return keeper.record;
      },
    });
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
  /** All output, once the run has ended for good. */
  async function outputToTheEnd(): Promise<string> {
    let text = '';
    const { signal } = new AbortController();
    for await (const part of daemon.runs.read(find(), { follow: true, signal })) {
      expect(part).toMatchObject({ kind: 'output', offset: text.length });
      if (part.kind === 'output') text += part.bytes.toString();
    }
    return text;
  }
  async function toldOf(type: LastingEvent['type'], count = 1): Promise<LastingEvent> {
    for (;;) {
      const found = events.filter((event) => event.type === type);
      if (found.length >= count) return found[count - 1] as LastingEvent;
      await new Promise<void>((resolve) => told.push(resolve));
    }
  }
  /** Waits until the run has written so much. */
  async function written(text: string): Promise<void> {
    let seen = '';
    const reading = new AbortController();
    for await (const part of daemon.runs.read(find(), { follow: true, signal: reading.signal })) {
      if (part.kind === 'output') seen += part.bytes.toString();
      if (seen.includes(text)) return;
    }
  }

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
    // What it was told to do is known to the next daemon, and not done again.
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
      'wanted "restart: true"',
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
    const wait = `while [ ! -e ${file('go')} ]; do sleep 0.02; done`;
    await start(`echo life; [ -e ${file('go')} ] && exec sleep 60; ${wait}; exit 3`, 'always');
    await written('life\n');
    await daemon.close();
    writeFileSync(file('go'), '');
    await keepers[0]?.over;
    daemon = await startDaemon();
    await written('life\nlife\n');
    expect(stateOf(find())).toBe('running');
    expect(find().plan).toMatchObject({ restarts: 1, failures: 1, shortLives: 1 });
  });

  it('goes on waiting with the next daemon, which judges it by its own list', async () => {
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
});
