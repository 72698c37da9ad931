import { canonicalPath } from '@wins/base';
import { SignedProgram } from '../signature/signed-program.js';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { UpgradeResult } from '../journal/upgrade-result.js';
import { ProgramWatch, type WatchOptions } from './watch-program.js';

const RUNNING_SHA1 = 'a'.repeat(40);
const RESULT = { outcome: 'rolledBack', reason: 'why', to: { sha256: 'a' } } as const;

/** The test starts each check. A check is complete when the watch waits for the next one. */
class World implements AsyncDisposable {
  readonly folder = mkdtempSync(path.join(tmpdir(), 'wins-watch-'));
  readonly file = canonicalPath(path.join(this.folder, 'wins'));
  readonly states: unknown[] = [];
  readonly warnings: string[] = [];
  looks = 0;
  /** One entry per offer of a program: the number of checks (`looks`) so far. */
  readonly offers: number[] = [];
  latest: UpgradeResult | undefined;
  examined: () => Promise<void> = () => Promise.resolve();
  offered: () => ReturnType<ReturnType<WatchOptions['upgrader']>['offerUpgrade']> = () =>
    Promise.resolve({ kind: 'handedOver', id: 'x' });
  #begin: () => void = () => undefined;
  #end: (reason: Error) => void = () => undefined;
  #arrived: () => void = () => undefined;
  readonly watch: ProgramWatch;

  constructor(runningSha1 = RUNNING_SHA1) {
    const note = (list: string[]) => (_facts: object, message: string) => void list.push(message);
    this.watch = new ProgramWatch({
      file: this.file,
      service: 's',
      runningFile: '/wins',
      runningSha1: Promise.resolve(runningSha1),
      guard: { assertTrustedFile: () => this.examined() },
      audit: { decided: () => undefined },
      upgrader: () => ({
        readSignature: () => new SignedProgram(),
        recoverUpgrade: () => Promise.reject(new Error('not asked for')),
        upgradeUnderWay: () => Promise.resolve(undefined),
        latestUpgrade: () => Promise.resolve(this.latest),
        offerUpgrade: () => {
          this.offers.push(this.looks);
          return this.offered();
        },
      }),
      logger: {
        debug: (facts) => void this.states.push((facts as { state: unknown }).state),
        info: () => undefined,
        error: () => undefined,
        warn: note(this.warnings),
      },
      clock: {
        wait: (_ms, { signal } = {}) =>
          new Promise((resolve, reject) => {
            if (this.looks === 0)
              signal?.addEventListener('abort', () => this.#end(signal.reason as Error));
            [this.#begin, this.#end] = [resolve, reject];
            this.#arrived();
          }),
      },
    });
  }

  write(text: string): void {
    rmSync(this.file, { force: true });
    writeFileSync(this.file, text);
  }

  async look(times = 1): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const next = new Promise<void>((resolve) => (this.#arrived = resolve));
      this.looks += 1;
      this.#begin();
      await next;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.watch.close();
    rmSync(this.folder, { recursive: true });
  }
}

describe('a watched file', () => {
  it('is examined when it is the same at two looks, not before', async () => {
    await using world = new World();
    await world.look(2);
    for (const text of ['one', 'other', undefined, 'third']) {
      if (text === undefined) rmSync(world.file);
      else world.write(text);
      await world.look();
    }
    expect(world.states).toEqual(['changing', 'changing', 'absent', 'changing']);
    expect(world.offers).toEqual([]);
    await world.look();
    expect(world.states.slice(4)).toEqual(['examining', 'offered']);
    expect(world.offers).toHaveLength(1);
  });

  it('is nothing to be done when it is the program that runs, until it changes', async () => {
    await using world = new World('356a192b7913b04c54574d18c28d46e6395428ab');
    world.write('1');
    await world.look(20);
    expect([world.states.at(-1), world.offers]).toEqual(['settled', []]);
    world.write('2');
    await world.look(2);
    expect(world.offers).toHaveLength(1);
  });

  it('that changes while it is examined is seen anew', async () => {
    await using world = new World();
    world.write('one');
    world.examined = () => {
      world.examined = () => Promise.resolve();
      world.write('other');
      return Promise.resolve();
    };
    await world.look(4);
    expect(world.states).toEqual([
      'changing',
      'examining',
      'absent',
      'changing',
      'examining',
      'offered',
    ]);
  });

  it('that others could have written is judged again after ten seconds, and warned of once', async () => {
    await using world = new World();
    world.write('one');
    let judged = 0;
    world.examined = () => Promise.reject(new Error(`not trusted ${(judged += 1) > 0}`));
    await world.look(2);
    expect([judged, world.states.at(-1)]).toEqual([1, 'deferred']);
    await world.look(9);
    expect(judged).toBe(1);
    await world.look();
    expect([judged, world.warnings.length, world.offers]).toEqual([2, 1, []]);
    rmSync(world.file);
    await world.look();
    expect(world.states.at(-1)).toBe('absent');
  });

  it('that cannot be offered is offered again, later each time, but not later than ten minutes', async () => {
    await using world = new World();
    world.write('one');
    world.offered = () => Promise.reject(new Error('busy'));
    await world.look(2 + 2 + 4 + 8 + 16 + 32 + 64 + 128 + 256 + 512 + 600 + 600);
    const waits = world.offers.slice(1).map((at, index) => at - (world.offers[index] ?? 0));
    expect(waits).toEqual([2, 4, 8, 16, 32, 64, 128, 256, 512, 600, 600]);
    world.write('other');
    await world.look(2 + 2);
    expect(world.offers).toHaveLength(14);
  });

  it.each<[string, Partial<UpgradeResult>, string]>([
    ['is settled when its upgrade has ended', {}, 'settled'],
    [
      'is offered again when the upgrade failed before it was judged',
      { to: undefined },
      'deferred',
    ],
  ])('%s, and is not looked at before', async (_what, result, state) => {
    await using world = new World();
    world.write('one');
    await world.look(2);
    rmSync(world.file);
    await world.look(5);
    expect(world.states.at(-1)).toBe('offered');
    world.write('one');
    world.latest = { id: 'another', ...RESULT };
    await world.look();
    world.latest = { id: 'x', ...RESULT, ...result };
    await world.look();
    expect(world.states.slice(2)).toEqual(['offered', state]);
  });

  it('is offered again when its helper does not report within ten minutes', async () => {
    await using world = new World();
    world.write('one');
    await world.look(2 + 600);
    expect(world.states.at(-1)).toBe('deferred');
    await world.look(2);
    expect(world.offers).toHaveLength(2);
  });

  it('that was tried before is not tried again', async () => {
    await using world = new World();
    world.write('one');
    world.offered = () => Promise.resolve({ kind: 'tried', outcome: 'rolledBack', reason: 'why' });
    await world.look(700);
    expect([world.states.at(-1), world.offers.length]).toEqual(['settled', 1]);
  });

  it('is not offered once the watch is closed', async () => {
    await using world = new World();
    world.write('one');
    let closed: Promise<void> | undefined;
    world.examined = () => {
      closed = world.watch.close();
      return Promise.resolve();
    };
    await world.look();
    // Do not await this check: it closes the watch and never completes.
    void world.look();
    while (closed === undefined) await new Promise((resolve) => setImmediate(resolve));
    await closed;
    expect(world.offers).toEqual([]);
  });
});
