import type { SourceState } from '../agent-event.js';
import { decidePass, type AgentMemory } from './decide-pass.js';
import type { SecretState } from './secret-state.js';

/** Where the plan of a Secret stands between two passes. */
export function stateBetweenPasses(
  state: SecretState,
  checksum: string,
  memory: AgentMemory,
  now: Date,
  nextPassAt = now,
): SourceState {
  const failed = (retryAt?: Date): SourceState => ({
    kind: 'failed',
    checksum,
    failures: state.failureCount,
    ...(retryAt && { retryAt }),
  });
  const decision = decidePass(state, checksum, memory, now);
  if (decision.kind !== 'watchOver') return failed(nextPassAt);
  if (decision.reason === 'coolingDown') return failed(decision.until);
  if (decision.reason === 'failedTooOften') return failed();
  if (decision.reason === 'terminal' && state.planState !== 'succeeded') return failed();
  return { kind: 'applied', checksum, nextPassAt };
}
