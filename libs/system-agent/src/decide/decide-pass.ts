import type { SecretState } from './secret-state.js';

/** After a failure, before the next try. */
export const COOL_DOWN_MS = 30_000;

/** Knowledge of this process about the Secret beyond its keys. */
export interface AgentMemory {
  /** No pass over a plan of this Secret has ended since the agent started, or since the Secret was made anew. */
  readonly firstPass: boolean;
  /** The run that this process wanted announced last and has not ended. The answer to that may have been lost. */
  readonly announced?: { readonly checksum: string; readonly revision: number };
}

export type Decision =
  | {
      readonly kind: 'apply';
      readonly attempt: number;
      readonly reason: 'firstPass' | 'changed' | 'retry' | 'announced' | 'interrupted';
    }
  /** Writes `in-progress` first; then decides again. */
  | { readonly kind: 'announce'; readonly reason: 'pending'; readonly revision: number }
  /** Periodic instructions and probes alone. */
  | { readonly kind: 'watchOver'; readonly reason: 'applied' | 'failedTooOften' | 'terminal' }
  | { readonly kind: 'watchOver'; readonly reason: 'coolingDown'; readonly until: Date };

/** Decides what a plan wants done now. Total: each state of the keys has one answer. */
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

/** Whether this plan was tried and has failed. */
export function hasFailed(state: SecretState, checksum: string): boolean {
  return state.failedChecksum === checksum && state.failureCount !== 0;
}

/** Decides by the Secret, regardless of its writer: `in-progress` is a run without a result. */
function decideByPlanState(
  { planState, planRevision, failureCount }: SecretState,
  checksum: string,
  { announced }: AgentMemory,
): Decision {
  if (planState === 'pending') {
    return { kind: 'announce', reason: 'pending', revision: planRevision + 1 };
  }
  if (planState !== 'in-progress') return { kind: 'watchOver', reason: 'terminal' };
  return announced?.checksum === checksum && announced.revision === planRevision
    ? { kind: 'apply', attempt: 1, reason: 'announced' }
    : { kind: 'apply', attempt: failureCount + 1, reason: 'interrupted' };
}

/** The rules from before `plan-state`. */
function decideByChecksum(
  state: SecretState,
  checksum: string,
  memory: AgentMemory,
  now: Date,
): Decision {
  const attempt = state.failureCount + 1;
  if (hasFailed(state, checksum)) {
    // A limit of 0 still allowed one try, which has been had.
    if (state.maxFailures !== undefined && state.failureCount >= state.maxFailures) {
      return { kind: 'watchOver', reason: 'failedTooOften' };
    }
    const until = coolDownEnd(state, now);
    return until
      ? { kind: 'watchOver', reason: 'coolingDown', until }
      : { kind: 'apply', attempt, reason: 'retry' };
  }
  if (memory.firstPass) return { kind: 'apply', attempt, reason: 'firstPass' };
  if (state.appliedChecksum === checksum) return { kind: 'watchOver', reason: 'applied' };
  return { kind: 'apply', attempt, reason: 'changed' };
}

/** Undefined when it is over. A last try in the future is that of a clock that was wrong: it does not count. */
function coolDownEnd({ lastApplyTime }: SecretState, now: Date): Date | undefined {
  if (lastApplyTime === undefined) return undefined;
  const sinceMs = now.getTime() - lastApplyTime.getTime();
  if (sinceMs > COOL_DOWN_MS || sinceMs < 0) return undefined;
  return new Date(lastApplyTime.getTime() + COOL_DOWN_MS);
}
