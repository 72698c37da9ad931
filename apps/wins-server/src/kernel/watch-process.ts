import { watchSlowTurns } from './admission/slow-turn-watch.js';
import type { Kernel } from './feature.js';
import { returnMemory } from './memory.js';

export function watchProcess({
  logger,
  events,
  system,
}: Pick<Kernel, 'logger' | 'events' | 'system'>): Disposable {
  const stalls = watchStalls((lateMs) => {
    logger.warn({ lateMs }, 'the event loop was blocked');
    events.publish({ type: 'stall', lateMs });
  });
  const clock = watchClock((byMs) => {
    logger.warn({ byMs }, 'the clock of the host jumped');
    events.publish({ type: 'kept', event: 'clockJumped', facts: { byMs } });
  });
  const slowTurns = watchSlowTurns({
    isWanted: () => logger.isLevelEnabled('debug'),
    tell: (seen) => logger.debug(seen, 'some turns of the event loop were slow'),
  });
  const memory = returnMemory({ trim: system.trimMemory });
  return {
    [Symbol.dispose]: () => {
      for (const watch of [memory, slowTurns, clock, stalls]) watch[Symbol.dispose]();
    },
  };
}

/** Reports jumps of the wall clock, which explain inconsistent times. On Linux a suspension of the host counts as a jump. */
export function watchClock(
  jumped: (byMs: number) => void,
  { intervalMs = 1000, toleranceMs = 1000, timeOfDay = () => Date.now() } = {},
): Disposable {
  const offset = (): number => timeOfDay() - performance.now();
  let before = offset();
  const timer = setInterval(() => {
    const byMs = Math.round(offset() - before);
    if (Math.abs(byMs) >= toleranceMs) jumped(byMs);
    before += byMs;
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}

/** Reports a blocked event loop, the cause of many delays that clients see. */
export function watchStalls(
  stalled: (lateMs: number) => void,
  { intervalMs = 1000, toleranceMs = 1000 } = {},
): Disposable {
  let due = performance.now() + intervalMs;
  const timer = setInterval(() => {
    const now = performance.now();
    if (now - due >= toleranceMs) stalled(Math.round(now - due));
    due = now + intervalMs;
  }, intervalMs).unref();
  return { [Symbol.dispose]: () => clearInterval(timer) };
}
