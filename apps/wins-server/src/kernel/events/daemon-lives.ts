import { timeOf, type RingEvent } from './ring-files.js';

/** One attempt of a run, or one process of the daemon. */
export interface Life {
  /** Undefined if it began before the first kept event. */
  readonly fromMs: number | undefined;
  /** Undefined while it lasts, and if its end is unknown. */
  readonly toMs: number | undefined;
  /** Words about the end; undefined while it lasts. */
  readonly end: string | undefined;
  readonly isFailure: boolean;
}

/** The processes of the daemon. @param isAnswering - Whether the last one lives. */
export function daemonLives(events: readonly RingEvent[], isAnswering: boolean): readonly Life[] {
  const lives: Life[] = [];
  let current: { fromMs: number | undefined; stoppedMs?: number } | undefined;
  /** Times of the events since the last start. */
  let timesMs: number[] = [];
  const end = (beforeMs = Infinity) => {
    const lastMs = timesMs.findLast((each) => each < beforeMs);
    if (current === undefined || (current.fromMs === undefined && lastMs === undefined)) return;
    const { fromMs, stoppedMs } = current;
    const toMs = stoppedMs ?? lastMs;
    const isFailure = stoppedMs === undefined;
    lives.push({ fromMs, toMs, end: isFailure ? 'ended unexpectedly' : 'stopped', isFailure });
  };
  for (const event of events) {
    const { type, ageMs = 0 } = event;
    const atMs = timeOf(event);
    if (type === 'started') {
      const fromMs = atMs - Math.max(0, Number(ageMs) || 0);
      // A starting daemon has events, too.
      end(fromMs);
      current = { fromMs };
      timesMs = [];
    } else {
      current ??= { fromMs: undefined };
      if (type === 'stopping') current.stoppedMs = atMs;
    }
    timesMs.push(atMs);
  }
  if (!isAnswering) end();
  else if (current !== undefined)
    lives.push({ fromMs: current.fromMs, toMs: undefined, end: undefined, isFailure: false });
  return lives;
}
