import { EVERYBODY } from '@wins/base';
import { createLoggerTo } from '../log/logger.js';
import { slowTurnLog, watchSlowTurns, type SlowTurns } from './slow-turn-watch.js';

const standStill = (ms: number): void =>
  void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);

it('tells how many turns were slow since somebody wanted to know, and how long the longest was', async () => {
  let asked = 0;
  let busy: NodeJS.Timeout | undefined;
  const seen = await new Promise<SlowTurns>((resolve) => {
    const watch = watchSlowTurns({
      isWanted: () => {
        asked += 1;
        if (asked === 2) busy = setInterval(standStill, 5, 60);
        return asked >= 2;
      },
      tell: (turns) => {
        clearInterval(busy);
        watch[Symbol.dispose]();
        resolve(turns);
      },
      toleranceMs: 50,
      intervalMs: 5,
      restMs: 20,
      stretchMs: 500,
    });
  });
  expect(seen.turns).toBeGreaterThanOrEqual(1);
  expect(seen.longestMs).toBeGreaterThanOrEqual(50);
});

it('looks at nothing while nobody would read it', async () => {
  const told: SlowTurns[] = [];
  let asked = 0;
  await new Promise<void>((resolve) => {
    const watch = watchSlowTurns({
      isWanted: () => {
        asked += 1;
        standStill(30);
        if (asked === 4) {
          watch[Symbol.dispose]();
          resolve();
        }
        return false;
      },
      tell: (seen) => told.push(seen),
      toleranceMs: 5,
      intervalMs: 1,
      stretchMs: 10,
    });
  });
  expect(told).toEqual([]);
});

it('logs at debug level which work took more than 20 ms, and for which client', () => {
  const lines: string[] = [];
  const logger = createLoggerTo(
    { debug: true, quiet: false },
    { write: (line) => lines.push(line) },
  );
  const tell = slowTurnLog(logger);
  const client = { ...EVERYBODY, description: { pid: 7 } };
  tell({ what: '/a.B/C', client, ms: 20 });
  tell({ what: 'tunnel', client, ms: 21.4 });
  expect(lines.map((line) => JSON.parse(line) as object)).toEqual([
    expect.objectContaining({ msg: 'slow turn', what: 'tunnel', client: { pid: 7 }, ms: 21 }),
  ]);
});
