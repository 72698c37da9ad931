import { status } from '@grpc/grpc-js';
import type { PlanServiceServer } from '@wins/wins-api/contract';
import { messageOf } from '@wins/wins-program';
import type { AgentSwitch } from './feature.js';
import type { RunningAgent } from './running-agent.js';
import type { AuditTrail } from '@wins/audit-log';
import { rpcError, toRpcError } from '../../rpc/rpc-errors.js';
import { administratorsOnly, type Callers } from '../../rpc/administrators-only.js';

/** What the service asks. */
export interface PlanServiceParts {
  readonly agent: Pick<AgentSwitch, 'agent' | 'reason' | 'isStrict'>;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

/** Why a call cannot be answered: there is no agent. */
class AgentOffError extends Error {
  override readonly name = 'AgentOffError';
}

/** Serves wins.PlanService, for administrators of the host alone: a plan commands the node. */
export function createPlanService({
  agent: agents,
  callers,
  audit,
}: PlanServiceParts): PlanServiceServer {
  const answer = administratorsOnly(callers, 'tell about plans or apply one', planError);
  const running = (): RunningAgent => {
    if (agents.agent !== undefined) return agents.agent;
    const message = `cannot use the plans of this node: found that the agent is off: ${agents.reason}; wanted it on; see "systemagent" in the config`;
    throw new AgentOffError(message);
  };
  return {
    status: (call, respond) =>
      answer(call, respond, () => {
        const { agent, isStrict } = agents;
        return {
          ...{ On: agent !== undefined, Reason: agent === undefined ? agents.reason : '' },
          LastContact: agent?.lastContactAt?.toISOString() ?? '',
          ...{ StrictTLS: isStrict, Sources: agent?.sources() ?? [] },
        };
      }),
    show: (call, respond) => answer(call, respond, () => ({ Plans: running().plans() })),
    history: (call, respond) =>
      answer(call, respond, async () => ({ Plans: await running().history() })),
    apply: (call, respond) =>
      answer(call, respond, async () => {
        const agent = running();
        const { Text: text, DryRun: isDryRun } = call.request;
        const gone = new AbortController();
        call.once('cancelled', () => gone.abort());
        if (!isDryRun) {
          const { description, key } = callers.clientOf(call);
          const who = { requester: call.getPeer(), client: description };
          await audit.decided({ action: 'planApply', verdict: 'allowed', ...who }, key);
        }
        return agent.apply(Buffer.from(text), isDryRun, gone.signal);
      }),
  };
}

/** Errors of the agent are known by their name: its code is not part of the daemon until it is on. */
function planError(error: unknown): ReturnType<typeof toRpcError> {
  if (error instanceof AgentOffError) {
    return rpcError(status.FAILED_PRECONDITION, 'agentOff', error.message);
  }
  if (!(error instanceof Error) || error.name !== 'AgentError') return toRpcError(error);
  const code = 'code' in error ? String(error.code) : 'unknown';
  const isInvalid = code === 'invalidPlan';
  const answered = isInvalid ? status.INVALID_ARGUMENT : status.FAILED_PRECONDITION;
  return rpcError(answered, code, messageOf(error));
}
