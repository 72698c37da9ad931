import { AgentError } from '../agent-error.js';
import type { AgentEvent, SourceState } from '../agent-event.js';
import type { WatchState } from '../ports.js';
import { KEY, type SecretData, savedPeriodic, secretState } from '../decide/secret-state.js';
import type { ParsedPlan } from '../plan/parse-plan.js';
import type { PlanStatus } from '../system-agent.js';

interface Failure {
  readonly error: Error;
  readonly retryAt: Date;
}

/** Reports each change of a source's state once. */
export class ToldState {
  readonly #source: string;
  readonly #onEvent: (event: AgentEvent) => void;
  #state: SourceState = { kind: 'starting' };
  #disconnected: SourceState | undefined;
  #unwritten: SourceState | undefined;
  #told: SourceState = this.#state;

  constructor(source: string, onEvent: (event: AgentEvent) => void) {
    this.#source = source;
    this.#onEvent = onEvent;
  }

  /**
   * Returns the first that applies: a running plan, a server that does not know the node, an unwritten result, an unreachable server,
   * the plan's state. An unknown node comes before an unwritten result and an unreachable server, because it can cause both.
   */
  get current(): SourceState {
    if (this.#state.kind === 'applying') return this.#state;
    if (this.#disconnected?.kind === 'unregistered') return this.#disconnected;
    return this.#unwritten ?? this.#disconnected ?? this.#state;
  }

  enter(state: SourceState): void {
    this.#state = state;
    this.#tell();
  }

  watched(state: WatchState): void {
    this.#disconnected = state.kind === 'waiting' ? failureState(state) : undefined;
    this.#tell();
  }

  written(checksum: string, failure: Failure | undefined): void {
    const state = failure && failureState(failure);
    this.#unwritten =
      state?.kind === 'unregistered'
        ? state
        : failure && { kind: 'unwritten', checksum, ...failure };
    this.#tell();
  }

  #tell(): void {
    const state = this.current;
    if (sameState(this.#told, state)) return;
    this.#told = state;
    this.#onEvent({ kind: 'stateChanged', source: this.#source, state });
  }
}

export function failureState({ error, retryAt }: Failure): SourceState {
  const isUnknown = error instanceof AgentError && error.code === 'unauthorized';
  return { kind: isUnknown ? 'unregistered' : 'disconnected', error, retryAt };
}

function sameState(a: SourceState, b: SourceState): boolean {
  const shown = (state: SourceState): string =>
    JSON.stringify(state, (key, value: unknown) => {
      if (key === 'nextPassAt' || key === 'retryAt') return undefined;
      return value instanceof Error ? value.message : value;
    });
  return shown(a) === shown(b);
}

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
    // Many callers do not need it, and must not wait until it is unpacked.
    get periodic() {
      return periodicOf(data);
    },
    probes,
  };
}

/** Ignores unreadable values, which the source's state already reports. */
function periodicOf(data: SecretData): PlanStatus['periodic'] {
  try {
    return savedPeriodic(data);
  } catch {
    return {};
  }
}
