import { returnMemory } from './service-runtime/memory/memory-return.js';
import { watchClock, watchStalls } from './service-runtime/event-loop/stall-watch.js';
import { watchSlowTurns } from './admission/slow-turn-watch.js';
import type { Kernel } from './feature.js';

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
