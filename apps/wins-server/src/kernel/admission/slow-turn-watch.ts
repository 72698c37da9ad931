import type { Turn } from './client-turns.js';
import type { Logger } from '../log/logger.js';

/** A turn that takes longer than this is one that others notice, in milliseconds. */
const SLOW_MS = 20;

/** Logs at debug level which work for which client held up all others. */
export function slowTurnLog(logger: Logger): (turn: Turn) => void {
  return ({ what, client, ms }) => {
    if (ms > SLOW_MS) {
      logger.debug({ what, client: client.description, ms: Math.round(ms) }, 'slow turn');
    }
  };
}

/** Observations of {@link watchSlowTurns} in one stretch of time. */
export interface SlowTurns {
  /** Turns of the event loop that kept a look waiting for longer than the tolerance. */
  readonly turns: number;
  /** The longest wait, in milliseconds. */
  readonly longestMs: number;
}

/** How {@link watchSlowTurns} looks. */
export interface SlowTurnOptions {
  /** Whether reports are wanted; asked at first and after each stretch. While they are not, nothing is measured. */
  readonly isWanted: () => boolean;
  /** Called at the end of a stretch in which there were slow turns. */
  readonly tell: (seen: SlowTurns) => void;
  /** How long a look may wait, in milliseconds. Default 20. */
  readonly toleranceMs?: number;
  /** Between two looks while the loop is busy, in milliseconds. Default 10: what is longer than the two together is seen then. */
  readonly intervalMs?: number;
  /** Between two questions whether it is busy, in milliseconds. Default 250. */
  readonly restMs?: number;
  /** How long a stretch is, in milliseconds. Default 60,000. */
  readonly stretchMs?: number;
}

/**
 * Counts the turns of the event loop that are so long that other clients notice. A processor that others use counts as well: this
 * cannot tell. A loop that rests holds up nobody, and a look each 10 ms would take 0.5 % of a processor: so it is looked at closely
 * only once it has worked for longer than the tolerance within a rest. Disposing ends it, without a last word; it keeps nothing alive.
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
