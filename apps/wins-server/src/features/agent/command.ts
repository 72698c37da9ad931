import { escapeText, EXIT, messageOf, quoteText, UsageError, type Answer } from '@wins/base';
import { fileSystemError } from '@wins/trusted-files';
import {
  camelCaseKeys,
  planServiceDefinition,
  type PlanApplyResponse,
  type PlanContent,
  type PlanFailure,
  type PlanProbeState,
  type PlanSource,
  type PlanStatusResponse,
} from '@wins/wins-api/contract';
import { open } from 'node:fs/promises';
import {
  callRunningDaemon,
  type Question,
  type RunningDaemonOptions,
} from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';

const SHOWN_DIGITS = 12;

export function statusText(answer: PlanStatusResponse): string {
  if (!answer.On) return `this node follows no plan: ${escapeText(answer.Reason)}\n`;
  const contact = answer.LastContact === '' ? [] : [`last contact: ${answer.LastContact}`];
  const none = answer.Sources.length === 0 ? ['no plan was found yet'] : [];
  return safeLines([...contact, ...none, ...answer.Sources.flatMap(sourceLines)]);
}

export function contentText(plan: PlanContent): string {
  return safeLines([
    `${plan.Source}: plan ${short(plan.Checksum)}`,
    ...plan.Files.map((file) => {
      const { Action, Directory, Path, Permissions, SizeBytes, Effect } = file;
      const what = Action === 'delete' ? '' : Directory ? ', a folder' : `, ${SizeBytes} bytes`;
      const mode = Permissions === '' ? '' : `, mode ${Permissions}`;
      return `  ${Action} ${Path}${what}${mode}${Effect === '' ? '' : ` (${Effect})`}`;
    }),
    ...plan.Instructions.map((one) => {
      const { Name, Command, Image, ArgumentCount, Variables, PeriodSeconds } = one;
      const when = PeriodSeconds === 0 ? 'once' : `every ${PeriodSeconds} s`;
      const program = Command === '' ? 'run.sh' : Command;
      const image = Image === '' ? '' : ` of ${Image}`;
      const variables = Variables.length === 0 ? '' : `, with ${Variables.join(', ')}`;
      return `  run ${Name === '' ? '' : `${Name}: `}${program}${image}, ${ArgumentCount} arguments${variables}, ${when}`;
    }),
    ...plan.Probes.map(({ Name, Address }) => `  probe ${Name}: ${Address}`),
  ]);
}

export function probeLines(probes: readonly PlanProbeState[]): string[] {
  return probes.map(({ Name, Healthy, SuccessCount, FailureCount }) => {
    const counts = `${SuccessCount} successes, ${FailureCount} failures`;
    return `  probe ${Name}: ${Healthy ? 'healthy' : 'unhealthy'} (${counts})`;
  });
}

export function failureLines(failure: PlanFailure | undefined): string[] {
  if (failure === undefined) return [];
  const { Instruction, ExitCode, Stderr } = failure;
  const said = Stderr.trimEnd()
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  return [
    `  failed instruction: ${Instruction}, exit code ${ExitCode}`,
    ...said.slice(-SHOWN_LINES).map((line) => `    ${line}`),
  ];
}

const SHOWN_LINES = 20;

function sourceLines(source: PlanSource): string[] {
  const { Source, State, Checksum, NextAt, Problem, FailedChecksum, AppliedChecksum } = source;
  const plan = Checksum === '' ? '' : `, plan ${short(Checksum)}`;
  const known = [
    ...(Problem === '' ? [] : [`  problem: ${Problem}`]),
    ...(AppliedChecksum === '' ? [] : [`  applied: ${short(AppliedChecksum)}`]),
    ...(FailedChecksum === '' ? [] : [`  failed: ${short(FailedChecksum)}`]),
    ...(NextAt === '' ? [] : [`  next check: ${NextAt}`]),
    ...failureLines(source.Failure),
  ];
  const periodic = source.Periodic.map(({ Name, ExitCode, LastSuccessfulRunTime, Failures }) => {
    const last = LastSuccessfulRunTime === '' ? 'never' : LastSuccessfulRunTime;
    return `  periodic ${Name}: exit code ${ExitCode}, last success ${last}, ${Failures} failures since`;
  });
  return [`${Source}: ${State}${plan}`, ...known, ...probeLines(source.Probes), ...periodic];
}

function short(checksum: string): string {
  return checksum.slice(0, SHOWN_DIGITS);
}

/** Exits with 65 for a plan that cannot be applied. */
export const ABOUT_PLANS: Question = {
  asker: 'wins srv plan',
  exitCode: (code) =>
    code === 'failedPrecondition' || code === 'invalidRequest'
      ? EXIT.server.invalidPlan
      : undefined,
};

export async function showPlanStatus(options: RunningDaemonOptions): Promise<Answer> {
  const { status } = planServiceDefinition;
  const answer = await callRunningDaemon(options, status, {}, ABOUT_PLANS);
  return { value: camelCaseKeys(answer), text: statusText(answer) };
}

export async function showPlans(options: RunningDaemonOptions): Promise<Answer> {
  const { show: method } = planServiceDefinition;
  const { Plans: plans } = await callRunningDaemon(options, method, {}, ABOUT_PLANS);
  const text = plans.map(contentText).join('');
  return { value: camelCaseKeys(plans), text: text === '' ? 'there is no plan\n' : text };
}

export async function showPlanHistory(options: RunningDaemonOptions): Promise<Answer> {
  const { history } = planServiceDefinition;
  const { Plans: plans } = await callRunningDaemon(options, history, {}, ABOUT_PLANS);
  const rows = plans.map((plan) => [
    ...[plan.File, plan.Checksum.slice(0, 12), String(plan.Files)],
    ...[String(plan.Instructions), String(plan.PeriodicInstructions), String(plan.Probes)],
  ]);
  const headings = ['FILE', 'CHECKSUM', 'FILES', 'INSTRUCTIONS', 'PERIODIC', 'PROBES'];
  return {
    value: camelCaseKeys(plans),
    table: { headings, rows },
    names: plans.map(({ File }) => File),
  };
}

/** A request has at most 1 MiB; 1 KiB of it is for other fields. */
const MAX_PLAN_BYTES = 1024 * 1024 - 1024;

export interface ApplyOptions extends RunningDaemonOptions {
  readonly file: string;
  readonly 'dry-run': boolean;
}

export async function applyPlan(options: ApplyOptions): Promise<Answer> {
  const request = { Text: await readPlan(options.file), DryRun: options['dry-run'] };
  const answer = await callRunningDaemon(options, planServiceDefinition.apply, request, {
    ...ABOUT_PLANS,
    timeoutMs: Infinity,
  });
  return {
    exitCode: answer.Applied && !answer.Succeeded ? EXIT.server.planFailed : EXIT.server.ok,
    value: camelCaseKeys(answer),
    text: textOf(answer),
  };
}

async function readPlan(file: string): Promise<Buffer> {
  let handle;
  try {
    handle = await open(file);
  } catch (cause) {
    const found = messageOf(fileSystemError(cause, 'read the plan', file));
    throw new UsageError(`--file: ${found}`, { cause });
  }
  try {
    const { size } = await handle.stat();
    if (size <= MAX_PLAN_BYTES) return await handle.readFile();
    const found = `found ${size} bytes; wanted ${MAX_PLAN_BYTES} at most`;
    throw new UsageError(`--file: cannot use ${quoteText(file)}: ${found}`);
  } finally {
    await handle.close();
  }
}

function textOf({ Plan, Applied, Succeeded, Outputs, Probes, Failure }: PlanApplyResponse): string {
  const plan = Plan === undefined ? '' : contentText(Plan);
  if (!Applied) return `${plan}nothing was done\n`;
  return (
    plan +
    safeLines([
      ...Outputs.map(({ Name, SizeBytes }) => `  output ${Name}: ${SizeBytes} bytes`),
      ...probeLines(Probes),
      ...failureLines(Failure),
      Succeeded ? 'the plan was applied' : 'an instruction failed',
    ])
  );
}
