import type { AgentAction, AgentEvent, FailedInstruction, ProviderRun } from '@wins/system-agent';
import type { Decision } from '../../kernel/audit/decision.js';
import type { EventFacts } from '../../kernel/events/ring-files.js';
import type { DaemonEvents } from '../../kernel/daemon-events.js';
import type { Logger } from '../../kernel/log/logger.js';

export const PASS_EVENT = 'plan';

export function actionDecision(action: AgentAction): Decision {
  const { source, checksum } = action;
  const plan = { verdict: 'allowed', requester: 'plan', source, checksum } as const;
  if (action.kind === 'file')
    return {
      action: action.operation === 'delete' ? 'planDelete' : 'planWrite',
      ...plan,
      path: action.path,
    };
  const { instruction: name, command: path, attempt, periodic } = action;
  return { action: 'planInstruction', ...plan, name, path, attempt, periodic };
}

/** Recorded before the credential provider runs. */
export function providerDecision({ name, file, image }: ProviderRun): Decision {
  const asked = { requester: 'plan', name, path: file, address: image };
  return { action: 'planCredentials', verdict: 'allowed', ...asked };
}

/** Skips `file` and `instruction` events, because the log already gets copies of their audit records. */
export function logAgentEvent(logger: Logger, event: AgentEvent): void {
  switch (event.kind) {
    case 'file':
    case 'instruction':
      return;
    case 'passEnded': {
      const { kind: _kind, ...facts } = event;
      if (event.succeeded) logger.info(facts, 'a plan was applied');
      else logger.warn(facts, 'a plan has failed');
      return;
    }
    case 'instructionEnded': {
      const { kind: _kind, error: err, ...facts } = event;
      const level = event.exitCode === 0 ? 'info' : 'warn';
      // pino prints the message of an error only under the name `err`.
      logger[level]({ ...facts, ...(err && { err }) }, 'an instruction of a plan has ended');
      return;
    }
    case 'probeChanged': {
      const { kind: _kind, ...facts } = event;
      const message = `a probe of a plan has become ${event.healthy ? 'healthy' : 'unhealthy'}`;
      logger[event.healthy ? 'info' : 'warn'](facts, message);
      return;
    }
    case 'stateChanged': {
      const { source, state } = event;
      const { kind, ...facts } = state;
      const { error: err, ...others } = 'error' in facts ? facts : { ...facts, error: undefined };
      const level = err === undefined && kind !== 'failed' ? 'debug' : 'warn';
      logger[level]({ source, state: kind, ...others, ...(err && { err }) }, 'the state of a plan');
      return;
    }
    case 'warning': {
      const { source, message, error: err } = event;
      logger.warn({ source, ...(err && { err }) }, message);
    }
  }
}

export function publishAgentEvent(events: DaemonEvents, event: AgentEvent): void {
  const publish = (name: string, facts: EventFacts): void =>
    events.publish({ type: 'kept', event: name, facts });
  if (event.kind === 'passEnded') {
    const { source, checksum, succeeded, durationMs, failure } = event;
    publish(PASS_EVENT, { source, checksum, succeeded, durationMs, ...failureFacts(failure) });
  } else if (event.kind === 'probeChanged') {
    const { source, checksum, probe, healthy } = event;
    publish('probe', { source, checksum, probe, healthy });
  } else if (event.kind === 'stateChanged') {
    const { source, state } = event;
    const failure = state.kind === 'failed' ? state.failure : undefined;
    publish('planState', { source, state: state.kind, ...failureFacts(failure) });
  }
}

/** Keeps the end of standard error, because the journal would keep only the beginning. */
function failureFacts(failure: FailedInstruction | undefined): EventFacts {
  if (failure === undefined) return {};
  const { instruction, exitCode, stderrEnd } = failure;
  return { instruction, exitCode, stderr: stderrEnd.trim().slice(-MAX_FACT) };
}

const MAX_FACT = 256;
