import type { SourceState } from '../agent-event.js';
import { KEY, type SecretData } from '../decide/secret-keys.js';
import { savedPeriodic, secretState } from '../decide/secret-state.js';
import type { ParsedPlan } from '../plan/parse-plan.js';
import type { PlanStatus } from '../system-agent.js';

export function remoteStatus(
  source: string,
  state: SourceState,
  data: SecretData,
  parsed: ParsedPlan | undefined,
): PlanStatus {
  const { appliedChecksum, failedChecksum, failureCount, probes } = secretState(data);
  const lastApplyTime = data[KEY.lastApplyTime]?.toString();
  return {
    source,
    state,
    ...(parsed && { plan: parsed.plan, checksum: parsed.checksum }),
    ...(appliedChecksum && { appliedChecksum }),
    ...(failedChecksum && { failedChecksum }),
    failures: failureCount,
    ...(lastApplyTime && { lastApplyTime }),
    periodic: periodicOf(data),
    probes,
  };
}

/** The state of the source already reports unreadable values. */
function periodicOf(data: SecretData): PlanStatus['periodic'] {
  try {
    return savedPeriodic(data);
  } catch {
    return {};
  }
}
