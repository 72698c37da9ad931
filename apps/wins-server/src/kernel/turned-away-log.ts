import type { Logger } from './log/logger.js';
import type { PlacesOptions } from './admission/places.js';
import { tallyLog } from './admission/tally.js';
import type { DaemonEvents, DaemonPipe } from './daemon-events.js';

const NAMES: Readonly<Record<DaemonPipe, string>> = {
  ...{ main: 'gRPC', admin: 'admin', tunnel: 'tunnel' },
};

/** Reports connections that were closed to free capacity to the log and as events. Disposal logs the remaining counts. */
export function turnedAwayLog(
  pipe: DaemonPipe,
  logger: Logger,
  events: DaemonEvents,
): Pick<PlacesOptions, 'turnedAway'> & Disposable {
  const tally = tallyLog(logger, 'warn', 'connections were turned away');
  return {
    turnedAway: ({ key, description: client }, why) => {
      tally.add(`${why} ${key}`, { pipe: NAMES[pipe], why, client });
      events.publish({ type: 'connection', pipe, phase: 'refused', rule: why });
    },
    [Symbol.dispose]: () => tally[Symbol.dispose](),
  };
}
