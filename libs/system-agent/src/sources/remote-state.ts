import type { SourceState } from '../agent-event.js';
import { decidePass, type AgentMemory } from '../decide/decide-pass.js';
import type { SecretState } from '../decide/secret-state.js';

/** Where the plan of a Secret stands between two passes. */
export function stateBetweenPasses(
  state: SecretState,
  checksum: string,
  memory: AgentMemory,
  now: Date,
  nextPassAt: Date,
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

/** Whether a person would say that two states are one: times aside. */
export function sameState(a: SourceState, b: SourceState): boolean {
  const told = (state: SourceState): string =>
    JSON.stringify(state, (key, value: unknown) => {
      if (key === 'nextPassAt' || key === 'retryAt') return undefined;
      return value instanceof Error ? value.message : value;
    });
  return told(a) === told(b);
}
