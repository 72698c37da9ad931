import { status } from '@grpc/grpc-js';
import type { AuditTrail } from '../../kernel/audit/audit-trail.js';
import type { PlanServiceServer } from '@wins/wins-api/contract';
import { messageOf } from '@wins/base';
import type { FeatureView } from '../../kernel/feature.js';
import {
  administratorsOnly,
  goneSignal,
  recordAct,
  type Callers,
} from '../../kernel/rpc/administrators-only.js';
import { rpcError, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import type { AgentSettings } from './agent-settings.js';
import { appliedMessage, contentMessage, outcomeMessage, sourceMessage } from './plan-messages.js';
import type { RunningAgent } from './running-agent.js';

export interface PlanServiceParts {
  readonly agent: Pick<
    FeatureView<Pick<AgentSettings, 'isStrict'>, RunningAgent>,
    'running' | 'reason' | 'settings' | 'require'
  >;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

/** Serves wins.PlanService, only for administrators of the host, because a plan controls the node. */
export function createPlanService(parts: PlanServiceParts): PlanServiceServer {
  const { agent } = parts;
  const answer = administratorsOnly(parts.callers, 'show or apply plans', planError);
  return {
    status: (call, respond) =>
      answer(call, respond, () => {
        const { running, settings } = agent;
        const now = running?.status();
        return {
          ...{ On: now !== undefined, Reason: now === undefined ? agent.reason : '' },
          LastContact: now?.lastContactAt?.toISOString() ?? '',
          StrictTLS: settings?.isStrict ?? false,
          Sources: now?.plans.map(sourceMessage) ?? [],
        };
      }),
    show: (call, respond) =>
      answer(call, respond, () => ({
        Plans: agent
          .require()
          .status()
          .plans.flatMap(({ source, checksum = '', plan }) =>
            plan === undefined ? [] : [contentMessage(source, checksum, plan)],
          ),
      })),
    history: (call, respond) =>
      answer(call, respond, async () => ({
        Plans: (await agent.require().history()).map(appliedMessage),
      })),
    apply: (call, respond) =>
      answer(call, respond, async () => {
        const running = agent.require();
        const { Text: text, DryRun: isDryRun } = call.request;
        const gone = goneSignal(call);
        if (!isDryRun) await recordAct(call, parts, { action: 'planApply' });
        return outcomeMessage(await running.apply(Buffer.from(text), isDryRun, gone));
      }),
  };
}

/** Recognises errors of the agent by name, because its code is not loaded while it is off. */
function planError(error: unknown): ReturnType<typeof toRpcError> {
  if (!(error instanceof Error) || error.name !== 'AgentError') return toRpcError(error);
  const code = 'code' in error ? String(error.code) : 'unknown';
  const isInvalid = code === 'invalidPlan';
  const answered = isInvalid ? status.INVALID_ARGUMENT : status.FAILED_PRECONDITION;
  return rpcError(answered, code, messageOf(error));
}
