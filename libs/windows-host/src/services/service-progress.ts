import type { ServiceState, ServiceStatus } from './service-status.js';

/** A pending service may be this much later than its own wait hint: a busy machine is not a hang. */
const PATIENCE_MS = 10_000;

/** What one who waits for a state makes of a status. */
export type ProgressVerdict = 'reached' | 'waiting' | 'ended' | 'stalled';

/** What was seen of a service that is on its way to a state; give it back with the next status. */
export interface Progress {
  readonly verdict: ProgressVerdict;
  readonly status: ServiceStatus;
  /** When the state or the checkpoint changed last. */
  readonly changedAtMs: number;
}

/**
 * Judges one look at a service that should come to a state. It is `stalled` when it shows no new checkpoint for longer
 * than it said that it needs, and `ended` when it is stopped and should run.
 */
export function judgeProgress(
  wanted: Extract<ServiceState, 'running' | 'stopped'>,
  status: ServiceStatus,
  nowMs: number,
  before?: Progress,
): Progress {
  const { state, checkpoint, waitHintMs } = status;
  const isSame = before?.status.state === state && before.status.checkpoint === checkpoint;
  const changedAtMs = isSame ? before.changedAtMs : nowMs;
  const verdict = ((): ProgressVerdict => {
    if (state === wanted) return 'reached';
    if (state === 'stopped') return 'ended';
    const isPending = state === 'startPending' || state === 'stopPending';
    return isPending && nowMs - changedAtMs > waitHintMs + PATIENCE_MS ? 'stalled' : 'waiting';
  })();
  return { verdict, status, changedAtMs };
}
