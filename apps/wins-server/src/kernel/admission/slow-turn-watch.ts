import type { Turn } from './client-scheduler.js';
import type { Logger } from '../log/logger.js';

/** Threshold in milliseconds. Other clients notice an event-loop turn that takes longer. */
const SLOW_MS = 20;

export function slowTurnLog(logger: Logger): (turn: Turn) => void {
  return ({ what, client, ms }) => {
    if (ms > SLOW_MS)
      logger.debug({ what, client: client.description, ms: Math.round(ms) }, 'slow turn');
  };
}

export interface SlowTurns {
  /** Event-loop turns that delayed a probe beyond the tolerance. */
  readonly turns: number;
  readonly longestMs: number;
}

export interface SlowTurnOptions {
  /** Called once at the beginning, then every `stretchMs`. While it returns false, nothing is measured. */
  readonly isWanted: () => boolean;
  readonly tell: (seen: SlowTurns) => void;
  /** Tolerated delay of a probe, in milliseconds. Default 20. */
  readonly toleranceMs?: number;
  /** Interval of probes in milliseconds while the loop is busy. Default: 10. A turn longer than interval plus tolerance is always seen. */
  readonly intervalMs?: number;
  /** Interval, in milliseconds, at which the load of the event loop is checked. Default 250. */
  readonly restMs?: number;
  /** Length of a reporting period, in milliseconds. `tell` is called after each period that had slow turns. Default 60,000. */
  readonly stretchMs?: number;
}

/**
 * Counts event-loop turns that are long enough for other clients to notice. The measured time includes time that other processes use. Probes
 * run only while the loop is busy, because a probe every 10 ms would use 0.5 % of a processor. The timers do not keep the process alive.
 */
export function watchSlowTurns({
  isWanted,
  tell,
  toleranceMs = SLOW_MS,
  intervalMs = 10,
  restMs = 250,
  stretchMs = 60_000,
}: SlowTurnOptions): Disposable {
  let turns = 0;
  let longestMs = 0;
  let due = 0;
  let active = 0;
  let looks: NodeJS.Timeout | undefined;
  let questions: NodeJS.Timeout | undefined;
  const look = (): void => {
    const now = performance.now();
    if (now - due > toleranceMs) {
      turns += 1;
      longestMs = Math.max(longestMs, now - due);
    }
    due = now + intervalMs;
  };
  const rest = (): void => {
    clearInterval(looks);
    looks = undefined;
  };
  const ask = (): void => {
    const before = active;
    ({ active } = performance.eventLoopUtilization());
    if (active - before <= toleranceMs) rest();
    else if (looks === undefined) {
      due = performance.now() + intervalMs;
      looks = setInterval(look, intervalMs).unref();
    }
  };
  const begin = (): void => {
    [turns, longestMs] = [0, 0];
    if (!isWanted()) {
      rest();
      clearInterval(questions);
      questions = undefined;
    } else if (questions === undefined) {
      ({ active } = performance.eventLoopUtilization());
      questions = setInterval(ask, restMs).unref();
    }
  };
  const stretches = setInterval(() => {
    if (turns > 0) tell({ turns, longestMs: Math.round(longestMs) });
    begin();
  }, stretchMs).unref();
  begin();
  return {
    [Symbol.dispose]: () => {
      clearInterval(stretches);
      clearInterval(questions);
      rest();
    },
  };
}
