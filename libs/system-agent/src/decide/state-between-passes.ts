import type { SourceState } from '../agent-event.js';
import { decidePass, hasFailed, type AgentMemory } from './decide-pass.js';
import type { SecretState } from './secret-state.js';

/** States in which the server has stopped a plan. */
const STOPPED = new Map<string | undefined, 'cancelled' | 'paused'>([
  ['cancelled', 'cancelled'],
  ['canceled', 'cancelled'],
  ['paused', 'paused'],
]);
/** The value of a key of the Secret may be a megabyte. */
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
      : // The original clears the checksum soon after a failure.
        planState === 'failed' && ['', checksum].includes(failedChecksum);
  if (isFailed) {
    const retryAt = decision.kind === 'apply' ? nextPassAt : 'until' in decision && decision.until;
    const failure = failedChecksum === checksum ? state.failure : undefined;
    return {
      ...{ kind: 'failed', checksum, failures },
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
