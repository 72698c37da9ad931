import { status } from '@grpc/grpc-js';
import { messageOf, toldAddress } from '@wins/base';
import type { AppliedPlan, Command, Plan, PlanFile } from '@wins/system-agent';
import type {
  PlanApplied,
  PlanApplyResponse,
  PlanContent,
  PlanFileEntry,
  PlanInstructionEntry,
  PlanServiceServer,
} from '@wins/wins-api/contract';
import type { AuditTrail } from '../../kernel/audit/audit-trail.js';
import type { FeatureView } from '../../kernel/feature.js';
import {
  administratorsOnly,
  goneSignal,
  recordAction,
  type Callers,
} from '../../kernel/rpc/administrators-only.js';
import { rpcError, toRpcError } from '../../kernel/rpc/rpc-errors.js';
import { failureIn, probesIn } from './plan-facts.js';
import type { PlanOutcome, RunningAgent } from './running-agent.js';

export interface PlanServiceParts {
  readonly agent: Pick<FeatureView<object, RunningAgent>, 'require'>;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

/** Only for administrators of the host, because a plan controls the node. */
export function createPlanService(parts: PlanServiceParts): PlanServiceServer {
  const { agent } = parts;
  const answer = administratorsOnly(parts.callers, 'show or apply plans', planError);
  return {
    show: (call, respond) =>
      answer(call, respond, () => ({
        plans: agent
          .require()
          .status()
          .plans.flatMap(({ source, checksum = '', plan }) =>
            plan === undefined ? [] : [contentMessage(source, checksum, plan)],
          ),
      })),
    history: (call, respond) =>
      answer(call, respond, async () => ({
        plans: (await agent.require().history()).map(appliedMessage),
      })),
    apply: (call, respond) =>
      answer(call, respond, async () => {
        const running = agent.require();
        const { text, dryRun: isDryRun } = call.request;
        const gone = goneSignal(call);
        if (!isDryRun) await recordAction(call, parts, { action: 'planApply' });
        return outcomeMessage(await running.apply(Buffer.from(text), isDryRun, gone));
      }),
  };
}

/** Recognises errors of the agent by name, because the agent's code is not loaded while the agent is off. */
function planError(error: unknown): ReturnType<typeof toRpcError> {
  if (!(error instanceof Error) || error.name !== 'AgentError') return toRpcError(error);
  const code = 'code' in error ? String(error.code) : 'unknown';
  const isInvalid = code === 'invalidPlan';
  const answered = isInvalid ? status.INVALID_ARGUMENT : status.FAILED_PRECONDITION;
  return rpcError(answered, code, messageOf(error));
}

/** Omits possible secrets: file contents, arguments and values. */
export function contentMessage(source: string, checksum: string, plan: Plan): PlanContent {
  return {
    source,
    checksum,
    files: plan.files.map((file) => fileMessage(file)),
    instructions: [
      ...plan.instructions.map((one) => instructionMessage(one, one.saveOutput, 0)),
      ...plan.periodicInstructions.map((one) => instructionMessage(one, true, one.periodSeconds)),
    ],
    probes: Object.entries(plan.probes).map(([name, { httpGet, timeoutSeconds }]) => ({
      name,
      address: toldAddress(httpGet?.url ?? ''),
      timeoutSeconds,
    })),
  };
}

export function appliedMessage({ file, checksum, plan }: AppliedPlan): PlanApplied {
  return {
    file,
    checksum,
    files: plan.files.length,
    instructions: plan.instructions.length,
    periodicInstructions: plan.periodicInstructions.length,
    probes: Object.keys(plan.probes).length,
  };
}

export function outcomeMessage({
  plan,
  checksum,
  effects,
  result,
}: PlanOutcome): PlanApplyResponse {
  const wanted = contentMessage('once', checksum, plan);
  if (result === undefined) {
    const files = wanted.files.map((file, index) => ({ ...file, effect: effects?.[index] ?? '' }));
    const nothing = { applied: false, succeeded: false, outputs: [], probes: [] };
    return { plan: { ...wanted, files }, ...nothing };
  }
  const { succeeded, failure, outputs, probes } = result;
  const sizes = Object.entries(outputs).map(([name, bytes]) => ({
    name,
    sizeBytes: bytes?.length ?? 0,
  }));
  const done = { plan: wanted, applied: true, succeeded, outputs: sizes };
  return { ...done, probes: probesIn(probes), ...failureIn(failure) };
}

function fileMessage(file: PlanFile): PlanFileEntry {
  return {
    path: file.path,
    directory: file.directory,
    permissions: file.permissions ?? '',
    uid: file.uid,
    gid: file.gid,
    action: file.action === 'delete' ? 'delete' : 'write',
    sizeBytes: Buffer.byteLength(file.content ?? '', 'base64'),
    effect: '',
  };
}

function instructionMessage(
  { name = '', image = '', command = '', args, env }: Command,
  savesOutput: boolean,
  periodSeconds: number,
): PlanInstructionEntry {
  return {
    name,
    image,
    command,
    argumentCount: args.length,
    // An entry without a name is a bare value and may be secret.
    variables: env.filter((entry) => entry.includes('=')).map((entry) => entry.split('=')[0] ?? ''),
    saveOutput: savesOutput,
    periodSeconds,
  };
}
