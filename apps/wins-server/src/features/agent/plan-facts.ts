import { quoteText } from '@wins/base';
import type {
  AgentStatus,
  FailedInstruction,
  PlanStatus,
  ProbeStatus,
  SourceState,
} from '@wins/system-agent';
import type { PlanFailure, PlanProbeState } from '@wins/wins-api/contract';

/** All times are in RFC 3339. */
export interface PlanFacts {
  /** Time of the API server's last answer; absent without one. */
  readonly lastContact?: string | undefined;
  /** Whether the authority in the connection info must have signed the certificate of the API server. */
  readonly strictTls: boolean;
  readonly sources: readonly PlanSource[];
}

export interface PlanSource extends Omit<PlanStatus, 'state' | 'plan' | 'periodic' | 'probes'> {
  readonly state: SourceState['kind'];
  /** Absent without one. */
  readonly problem?: string | undefined;
  /** Time of the next check or attempt; absent when none follows. */
  readonly nextAt?: string | undefined;
  readonly probes: readonly PlanProbeState[];
  readonly periodic: readonly PeriodicFacts[];
  /** Failed instruction of a failed plan, if known. */
  readonly failure?: PlanFailure;
}

interface PeriodicFacts extends Pick<
  PlanStatus['periodic'][string],
  'exitCode' | 'failures' | 'lastSuccessfulRunTime' | 'lastFailedRunTime'
> {
  readonly name: string;
}

export function planFacts({ plans, lastContactAt }: AgentStatus, isStrict: boolean): PlanFacts {
  return {
    lastContact: lastContactAt?.toISOString(),
    strictTls: isStrict,
    sources: plans.map(sourceFacts),
  };
}

/** Omits the plan, because it may hold secrets. */
export function sourceFacts({ source, state, ...known }: PlanStatus): PlanSource {
  return {
    source,
    state: state.kind,
    problem: problemOf(state) || undefined,
    nextAt: nextOf(state)?.toISOString(),
    checksum: known.checksum,
    appliedChecksum: known.appliedChecksum,
    failedChecksum: known.failedChecksum,
    failures: known.failures,
    lastApplyTime: known.lastApplyTime,
    probes: probesIn(known.probes),
    periodic: Object.entries(known.periodic).map(([name, status]) => ({
      name,
      exitCode: status.exitCode,
      failures: status.failures,
      lastSuccessfulRunTime: status.lastSuccessfulRunTime,
      lastFailedRunTime: status.lastFailedRunTime,
    })),
    ...('failure' in state && failureIn(state.failure)),
  };
}

export function failureIn(failure: FailedInstruction | undefined): { failure?: PlanFailure } {
  if (failure === undefined) return {};
  const { instruction, exitCode, stderrEnd } = failure;
  return { failure: { instruction, exitCode, stderr: stderrEnd } };
}

export function probesIn(probes: Readonly<Record<string, ProbeStatus>>): PlanProbeState[] {
  return Object.entries(probes).map(([name, { healthy, successCount, failureCount }]) => ({
    name,
    healthy,
    successCount,
    failureCount,
  }));
}

/** Returns an empty text when there is no problem. */
export function problemOf(state: SourceState): string {
  if (state.kind === 'noSecret') return `the server has no Secret for this node: ${JOIN_AGAIN}`;
  if (state.kind === 'unregistered') return `${state.error.message}: ${JOIN_AGAIN}`;
  if ('error' in state) return state.error.message;
  if (state.kind === 'waiting' && !STARTS.has(state.planState)) {
    const found = `plan-state is ${quoteText(state.planState ?? '')}`;
    if (!ENDED.has(state.planState)) return `${found}; only pending starts the plan`;
    return `${found} from an earlier plan; only pending starts this one. A Rancher that was rolled back to a release without this key never writes it: then remove plan-state from the Secret`;
  }
  if (state.kind !== 'failed') return '';
  const { failures, failure } = state;
  const inTry = failures === 0 ? '' : `, in try ${failures}`;
  if (failure !== undefined) return `${failureText(failure)}${inTry}`;
  if (failures === 0) return 'plan-state is "failed"; the Secret does not say why';
  return `an instruction failed${inTry}`;
}

export function failureText({ instruction, exitCode, stderrEnd }: FailedInstruction): string {
  const ended = exitCode === -1 ? 'was not started, or was killed' : `ended with ${exitCode}`;
  const said = stderrEnd.trim().slice(-SHOWN_STDERR);
  return `instruction ${quoteText(instruction)} ${ended}${said === '' ? '' : `: ${quoteText(said)}`}`;
}

const JOIN_AGAIN =
  'the server removed this node, or was restored to a backup from before it joined. If this persists, run "wins join --again"';

const SHOWN_STDERR = 200;

const ENDED = new Set<string | undefined>(['succeeded', 'failed']);

/** Values of `plan-state` that let the agent apply the plan. */
const STARTS = new Set([undefined, 'pending', 'in-progress']);

function nextOf(state: SourceState): Date | undefined {
  if ('retryAt' in state) return state.retryAt;
  return 'nextPassAt' in state ? state.nextPassAt : undefined;
}
