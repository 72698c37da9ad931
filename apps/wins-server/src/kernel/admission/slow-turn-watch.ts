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

/** What {@link watchSlowTurns} saw in one stretch of time. */
export interface SlowTurns {
  /** Turns of the event loop that kept a look waiting for longer than the tolerance. */
  readonly turns: number;
  /** The longest wait, in milliseconds. */
  readonly longestMs: number;
}

/** How {@link watchSlowTurns} looks. */
export interface SlowTurnOptions {
  /** Whether reports are wanted; asked at first and after each stretch. While they are not, nothing is measured: measuring costs about 1 % of a processor. */
  readonly isWanted: () => boolean;
  /** Called at the end of a stretch in which there were slow turns. */
  readonly tell: (seen: SlowTurns) => void;
  /** How long a look may wait, in milliseconds. Default 20. */
  readonly toleranceMs?: number;
  /** Between two looks, in milliseconds. Default 10: what is longer than the two together is always seen. */
  readonly intervalMs?: number;
  /** How long a stretch is, in milliseconds. Default 60,000. */
  readonly stretchMs?: number;
}

/**
 * Counts the turns of the event loop that are so long that other clients notice. A processor that others use counts as well: this
 * cannot tell. Disposing ends it, without a last word; it keeps nothing alive.
 */
export function watchSlowTurns({
  isWanted,
  tell,
  toleranceMs = SLOW_MS,
  intervalMs = 10,
  stretchMs = 60_000,
}: SlowTurnOptions): Disposable {
  let turns = 0;
  let longestMs = 0;
  let due = 0;
  let looks: NodeJS.Timeout | undefined;
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
  const begin = (): void => {
    [turns, longestMs] = [0, 0];
    if (!isWanted()) {
      rest();
      return;
    }
    if (looks !== undefined) return;
    due = performance.now() + intervalMs;
    looks = setInterval(look, intervalMs).unref();
  };
  const stretches = setInterval(() => {
    if (turns > 0) tell({ turns, longestMs: Math.round(longestMs) });
    begin();
  }, stretchMs).unref();
  begin();
  return {
    [Symbol.dispose]: () => {
      clearInterval(stretches);
      rest();
    },
  };
}
