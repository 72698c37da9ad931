import { status } from '@grpc/grpc-js';
import { messageOf, quoteText, toldAddress } from '@wins/base';
import type {
  AppliedPlan,
  Command,
  FailedInstruction,
  Plan,
  PlanFile,
  PlanStatus,
  ProbeStatus,
  SourceState,
} from '@wins/system-agent';
import type {
  PlanApplied,
  PlanApplyResponse,
  PlanContent,
  PlanFailure,
  PlanFileEntry,
  PlanInstructionEntry,
  PlanProbeState,
  PlanServiceServer,
  PlanSource,
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
import type { AgentSettings } from './agent-settings.js';
import type { PlanOutcome, RunningAgent } from './running-agent.js';

export interface PlanServiceParts {
  readonly agent: Pick<
    FeatureView<Pick<AgentSettings, 'isStrict'>, RunningAgent>,
    'running' | 'reason' | 'settings' | 'require'
  >;
  readonly callers: Pick<Callers, 'clientOf' | 'administered'>;
  readonly audit: Pick<AuditTrail, 'decided'>;
}

/** Only for administrators of the host, because a plan controls the node. */
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
    ...{ Source: source, Checksum: checksum },
    Files: plan.files.map((file) => fileMessage(file)),
    Instructions: [
      ...plan.instructions.map((one) => instructionMessage(one, one.saveOutput, 0)),
      ...plan.periodicInstructions.map((one) => instructionMessage(one, true, one.periodSeconds)),
    ],
    Probes: Object.entries(plan.probes).map(([name, { httpGet, timeoutSeconds }]) => ({
      ...{ Name: name, Address: toldAddress(httpGet?.url ?? ''), TimeoutSeconds: timeoutSeconds },
    })),
  };
}

export function sourceMessage({ source, state, ...known }: PlanStatus): PlanSource {
  return {
    ...{ Source: source, State: state.kind, Problem: problemOf(state) },
    NextAt: nextOf(state)?.toISOString() ?? '',
    Checksum: known.checksum ?? '',
    AppliedChecksum: known.appliedChecksum ?? '',
    FailedChecksum: known.failedChecksum ?? '',
    Failures: known.failures,
    LastApplyTime: known.lastApplyTime ?? '',
    Probes: probeMessages(known.probes),
    Periodic: Object.entries(known.periodic).map(([name, status]) => ({
      ...{ Name: name, ExitCode: status.exitCode, Failures: status.failures },
      LastSuccessfulRunTime: status.lastSuccessfulRunTime,
      LastFailedRunTime: status.lastFailedRunTime,
    })),
    ...('failure' in state && failureMessage(state.failure)),
  };
}

function failureMessage(failure: FailedInstruction | undefined): { Failure?: PlanFailure } {
  if (failure === undefined) return {};
  const { instruction, exitCode, stderrEnd } = failure;
  return { Failure: { Instruction: instruction, ExitCode: exitCode, Stderr: stderrEnd } };
}

function probeMessages(probes: Readonly<Record<string, ProbeStatus>>): PlanProbeState[] {
  return Object.entries(probes).map(([name, { healthy, successCount, failureCount }]) => ({
    ...{ Name: name, Healthy: healthy },
    ...{ SuccessCount: successCount, FailureCount: failureCount },
  }));
}

export function appliedMessage({ file, checksum, plan }: AppliedPlan): PlanApplied {
  return {
    ...{ File: file, Checksum: checksum, Files: plan.files.length },
    Instructions: plan.instructions.length,
    PeriodicInstructions: plan.periodicInstructions.length,
    Probes: Object.keys(plan.probes).length,
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
    const Files = wanted.Files.map((file, index) => ({ ...file, Effect: effects?.[index] ?? '' }));
    const nothing = { Applied: false, Succeeded: false, Outputs: [], Probes: [] };
    return { Plan: { ...wanted, Files }, ...nothing };
  }
  const { succeeded, failure, outputs, probes } = result;
  const Outputs = Object.entries(outputs).map(([name, bytes]) => ({
    ...{ Name: name, SizeBytes: bytes?.length ?? 0 },
  }));
  const Probes = probeMessages(probes);
  const done = { Plan: wanted, Applied: true, Succeeded: succeeded, Outputs, Probes };
  return { ...done, ...failureMessage(failure) };
}

function fileMessage(file: PlanFile): PlanFileEntry {
  return {
    ...{ Path: file.path, Directory: file.directory, Permissions: file.permissions ?? '' },
    ...{ Uid: file.uid, Gid: file.gid, Action: file.action === 'delete' ? 'delete' : 'write' },
    ...{ SizeBytes: Buffer.byteLength(file.content ?? '', 'base64'), Effect: '' },
  };
}

function instructionMessage(
  { name = '', image = '', command = '', args, env }: Command,
  savesOutput: boolean,
  periodSeconds: number,
): PlanInstructionEntry {
  return {
    ...{ Name: name, Image: image, Command: command, ArgumentCount: args.length },
    // An entry without a name is a bare value and may be secret.
    Variables: env.filter((entry) => entry.includes('=')).map((entry) => entry.split('=')[0] ?? ''),
    ...{ SaveOutput: savesOutput, PeriodSeconds: periodSeconds },
  };
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
