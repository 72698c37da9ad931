import fc from 'fast-check';
import { setImmediate as turn } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { Serial } from './serial.js';

interface Work {
  /** Turns of the event loop that the work takes; 0: the work is synchronous. */
  readonly turns: number;
  readonly fails: boolean;
  /** Works that this one adds while it runs. */
  readonly adds: readonly Work[];
}

const { work } = fc.letrec<{ work: Work }>((tie) => ({
  work: fc.record({
    turns: fc.nat(3),
    fails: fc.boolean(),
    adds: fc.oneof(
      { maxDepth: 2, depthIdentifier: 'works' },
      fc.constant([]),
      fc.array(tie('work'), { maxLength: 3, depthIdentifier: 'works' }),
    ),
  }),
}));

/** Runs works as a plain list: each adds its own to the end. */
function ranInModel(works: readonly Work[]): readonly string[] {
  const waiting = [...works];
  const ran: string[] = [];
  for (const next of waiting) {
    const name = ran.length / 2;
    waiting.push(...next.adds);
    ran.push(`begin ${name}`, `${next.fails ? 'fail' : 'end'} ${name}`);
  }
  return ran;
}

describe('works of a Serial', () => {
  it('run like those of a list, whether they wait, fail or add others', () =>
    fc.assert(
      fc.asyncProperty(fc.array(work, { maxLength: 6 }), async (works) => {
        const serial = new Serial();
        const ran: string[] = [];
        const outcomes: Promise<boolean>[] = [];
        let count = 0;
        const add = (one: Work): void => {
          const begin = (): string => {
            const name = String((count += 1) - 1);
            ran.push(`begin ${name}`);
            one.adds.forEach(add);
            return name;
          };
          const end = (name: string): string => {
            ran.push(`${one.fails ? 'fail' : 'end'} ${name}`);
            if (one.fails) throw new Error(name);
            return name;
          };
          const later = async (): Promise<string> => {
            const name = begin();
            for (let left = one.turns; left > 0; left -= 1) await turn();
            return end(name);
          };
          const result = serial.run(one.turns === 0 ? () => end(begin()) : later);
          outcomes.push(
            result.then(
              () => !one.fails,
              () => one.fails,
            ),
          );
        };
        works.forEach(add);
        await serial.idle();
        expect(ran).toEqual(ranInModel(works));
        expect(await Promise.all(outcomes)).not.toContain(false);
      }),
    ));

  it('give their values and errors to the callers alone', async () => {
    const serial = new Serial();
    const error = new Error('no luck');
    const failed = serial.run(() => Promise.reject(error));
    const done = serial.run(() => 'value');
    await expect(failed).rejects.toBe(error);
    expect(await done).toBe('value');
    await serial.idle();
  });

  it('leave no value in memory once its caller has dropped it', async () => {
    setFlagsFromString('--expose-gc');
    const collect = runInNewContext('gc') as () => void;
    const serial = new Serial();
    const values: WeakRef<object>[] = [];
    for (let works = 1; works <= 10; works += 1)
      await serial.run(() => {
        const value = {};
        values.push(new WeakRef(value));
        return value;
      });
    await turn();
    collect();
    expect(values.filter((value) => value.deref() !== undefined)).toEqual([]);
  });

  it('are cancelled by a signal until they begin, without waiting for earlier ones', async () => {
    const serial = new Serial();
    const reason = new Error('nobody waits');
    const stop = new AbortController();
    const ran: string[] = [];
    let end: () => void = () => undefined;
    const first = serial.run(
      async () => {
        await new Promise<void>((resolve) => (end = resolve));
        ran.push('first');
      },
      { signal: stop.signal },
    );
    const second = serial.run(() => ran.push('second'), { signal: stop.signal });
    const third = serial.run(() => ran.push('third'));
    await turn();
    stop.abort(reason);
    await expect(second).rejects.toBe(reason);
    await expect(serial.run(() => ran.push('late'), { signal: stop.signal })).rejects.toBe(reason);
    expect(ran).toEqual([]);
    end();
    await Promise.all([first, third]);
    expect(ran).toEqual(['first', 'third']);
  });
});
