import type { SecretState } from './secret-state.js';
import type { SourceState } from '../agent-event.js';

export const COOL_DOWN_MS = 30_000;

/** Facts that the keys of the Secret do not contain. */
export interface AgentMemory {
  /** True from the agent's start, or the Secret's creation, until one pass has ended. */
  readonly firstPass: boolean;
  /** The unfinished run for which this process wrote `in-progress`. Remembered, because the server's answer may have been lost. */
  readonly announced?: { readonly checksum: string; readonly revision: number };
}

export type Decision =
  | {
      readonly kind: 'apply';
      readonly attempt: number;
      readonly reason: 'firstPass' | 'changed' | 'retry' | 'announced' | 'interrupted';
    }
  /** Write `in-progress`, then decide again. */
  | { readonly kind: 'announce'; readonly reason: 'pending'; readonly revision: number }
  /** Run only periodic instructions and probes. */
  | { readonly kind: 'watchOver'; readonly reason: 'applied' | 'failedTooOften' | 'terminal' }
  | { readonly kind: 'watchOver'; readonly reason: 'coolingDown'; readonly until: Date };

export function decidePass(
  state: SecretState,
  checksum: string,
  memory: AgentMemory,
  now: Date,
): Decision {
  return state.planState === undefined
    ? decideByChecksum(state, checksum, memory, now)
    : decideByPlanState(state, checksum, memory);
}

export function hasFailed(state: SecretState, checksum: string): boolean {
  return state.failedChecksum === checksum && state.failureCount !== 0;
}

/** Decides by `plan-state`. Its value `in-progress` means that a run has no result yet, even if another agent wrote that value. */
function decideByPlanState(
  { planState, planRevision, failureCount }: SecretState,
  checksum: string,
  { announced }: AgentMemory,
): Decision {
  if (planState === 'pending')
    return { kind: 'announce', reason: 'pending', revision: planRevision + 1 };
  if (planState !== 'in-progress') return { kind: 'watchOver', reason: 'terminal' };
  return announced?.checksum === checksum && announced.revision === planRevision
    ? { kind: 'apply', attempt: 1, reason: 'announced' }
    : { kind: 'apply', attempt: failureCount + 1, reason: 'interrupted' };
}

/** For servers that do not know `plan-state`. */
function decideByChecksum(
  state: SecretState,
  checksum: string,
  memory: AgentMemory,
  now: Date,
): Decision {
  const attempt = state.failureCount + 1;
  if (hasFailed(state, checksum)) {
    // A limit of 0 still allows one attempt.
    if (state.maxFailures !== undefined && state.failureCount >= state.maxFailures)
      return { kind: 'watchOver', reason: 'failedTooOften' };
    const until = coolDownEnd(state, now);
    return until
      ? { kind: 'watchOver', reason: 'coolingDown', until }
      : { kind: 'apply', attempt, reason: 'retry' };
  }
  if (memory.firstPass) return { kind: 'apply', attempt, reason: 'firstPass' };
  if (state.appliedChecksum === checksum) return { kind: 'watchOver', reason: 'applied' };
  return { kind: 'apply', attempt, reason: 'changed' };
}

/** Undefined when the cool-down is over. Ignores a `lastApplyTime` in the future: a clock was wrong. */
function coolDownEnd({ lastApplyTime }: SecretState, now: Date): Date | undefined {
  if (lastApplyTime === undefined) return undefined;
  const sinceMs = now.getTime() - lastApplyTime.getTime();
  if (sinceMs > COOL_DOWN_MS || sinceMs < 0) return undefined;
  return new Date(lastApplyTime.getTime() + COOL_DOWN_MS);
}

const STOPPED = new Map<string | undefined, 'cancelled' | 'paused'>([
  ['cancelled', 'cancelled'],
  ['canceled', 'cancelled'],
  ['paused', 'paused'],
]);
/** Maximum number of characters shown of `plan-state`, which may be a megabyte long. */
const MAX_SHOWN = 64;

export function stateBetweenPasses(
  state: SecretState,
  checksum: string,
  memory: AgentMemory,
  now: Date,
  nextPassAt = now,
): SourceState {
  const { planState, appliedChecksum, failedChecksum, failureCount: failures } = state;
  const decision = decidePass(state, checksum, memory, now);
  const isApplied = appliedChecksum === checksum && [undefined, 'succeeded'].includes(planState);
  const isFailed =
    planState === undefined
      ? hasFailed(state, checksum)
      : // The Go agent clears the checksum soon after a failure.
        planState === 'failed' && ['', checksum].includes(failedChecksum);
  if (isFailed) {
    const retryAt = decision.kind === 'apply' ? nextPassAt : 'until' in decision && decision.until;
    const failure = failedChecksum === checksum ? state.failure : undefined;
    return {
      kind: 'failed',
      checksum,
      failures,
      ...(failure && { failure }),
      ...(retryAt && { retryAt }),
    };
  }
  if (isApplied) return { kind: 'applied', checksum, nextPassAt };
  const stopped = STOPPED.get(planState);
  if (stopped !== undefined) return { kind: stopped, checksum, nextPassAt };
  const shown = planState?.slice(0, MAX_SHOWN);
  return {
    kind: 'waiting',
    checksum,
    nextPassAt,
    ...(shown !== undefined && { planState: shown }),
  };
}
