import { escapeText, EXIT, messageOf, UsageError, type Answer } from '@wins/base';
import { readBytes } from '@wins/trusted-files';
import {
  planServiceDefinition,
  type PlanApplyResponse,
  type PlanContent,
  type PlanFailure,
  type PlanProbeState,
} from '@wins/wins-api/contract';
import { factsIn, type Told } from '../../kernel/told-facts.js';
import { readFacts } from '../../client/feature-facts.js';
import {
  callRunningDaemon,
  type Question,
  type RunningDaemonOptions,
} from '../../client/running-daemon.js';
import { safeLines } from '../../client/safe-lines.js';
import type { PlanFacts, PlanSource } from './plan-facts.js';

const FEATURE = 'agent';
const SHOWN_DIGITS = 12;

export function statusText(status: Told<PlanFacts>): string {
  if (!status.on) return `this node follows no plan: ${escapeText(status.reason)}\n`;
  const { lastContact, sources } = status;
  const contact = lastContact === undefined ? [] : [`last contact: ${lastContact}`];
  const none = sources.length === 0 ? ['no plan was found yet'] : [];
  return safeLines([...contact, ...none, ...sources.flatMap(sourceLines)]);
}

export function contentText(plan: PlanContent): string {
  return safeLines([
    `${plan.source}: plan ${short(plan.checksum)}`,
    ...plan.files.map((file) => {
      const { action, directory, path, permissions, sizeBytes, effect } = file;
      const what = action === 'delete' ? '' : directory ? ', a folder' : `, ${sizeBytes} bytes`;
      const mode = permissions === '' ? '' : `, mode ${permissions}`;
      return `  ${action} ${path}${what}${mode}${effect === '' ? '' : ` (${effect})`}`;
    }),
    ...plan.instructions.map((one) => {
      const { name, command, argumentCount, periodSeconds } = one;
      const when = periodSeconds === 0 ? 'once' : `every ${periodSeconds} s`;
      const program = command === '' ? 'run.sh' : command;
      const image = one.image === '' ? '' : ` of ${one.image}`;
      const variables = one.variables.length === 0 ? '' : `, with ${one.variables.join(', ')}`;
      return `  run ${name === '' ? '' : `${name}: `}${program}${image}, ${argumentCount} arguments${variables}, ${when}`;
    }),
    ...plan.probes.map(({ name, address }) => `  probe ${name}: ${address}`),
  ]);
}

export function probeLines(probes: readonly PlanProbeState[]): string[] {
  return probes.map(({ name, healthy, successCount, failureCount }) => {
    const counts = `${successCount} successes, ${failureCount} failures`;
    return `  probe ${name}: ${healthy ? 'healthy' : 'unhealthy'} (${counts})`;
  });
}

export function failureLines(failure: PlanFailure | undefined): string[] {
  if (failure === undefined) return [];
  const { instruction, exitCode, stderr } = failure;
  const said = stderr
    .trimEnd()
    .split(/\r?\n/)
    .filter((line) => line.trim() !== '');
  return [
    `  failed instruction: ${instruction}, exit code ${exitCode}`,
    ...said.slice(-SHOWN_LINES).map((line) => `    ${line}`),
  ];
}

const SHOWN_LINES = 20;

function sourceLines(one: PlanSource): string[] {
  const { source, state, checksum, nextAt, problem, failedChecksum, appliedChecksum } = one;
  const plan = checksum === undefined ? '' : `, plan ${short(checksum)}`;
  const known = [
    ...(problem === undefined ? [] : [`  problem: ${problem}`]),
    ...(appliedChecksum === undefined ? [] : [`  applied: ${short(appliedChecksum)}`]),
    ...(failedChecksum === undefined ? [] : [`  failed: ${short(failedChecksum)}`]),
    ...(nextAt === undefined ? [] : [`  next check: ${nextAt}`]),
    ...failureLines(one.failure),
  ];
  const periodic = one.periodic.map(({ name, exitCode, lastSuccessfulRunTime, failures }) => {
    const last = lastSuccessfulRunTime === '' ? 'never' : lastSuccessfulRunTime;
    return `  periodic ${name}: exit code ${exitCode}, last success ${last}, ${failures} failures since`;
  });
  return [`${source}: ${state}${plan}`, ...known, ...probeLines(one.probes), ...periodic];
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
  const answer = await readFacts(options, [FEATURE], ABOUT_PLANS);
  const status = factsIn<PlanFacts>(answer, FEATURE);
  const sources = status.on ? status.sources : [];
  return {
    value: status,
    text: statusText(status),
    table: {
      headings: ['SOURCE', 'STATE', 'CHECKSUM', 'NEXT', 'PROBLEM'],
      drops: ['CHECKSUM', 'NEXT'],
      rows: sources.map(({ source, state, checksum = '', nextAt = '', problem = '' }) => [
        source,
        state,
        short(checksum),
        nextAt,
        problem,
      ]),
    },
    names: sources.map(({ source }) => source),
  };
}

export async function showPlans(options: RunningDaemonOptions): Promise<Answer> {
  const { show: method } = planServiceDefinition;
  const { plans } = await callRunningDaemon(options, method, {}, ABOUT_PLANS);
  const text = plans.map(contentText).join('');
  return {
    value: plans,
    text: text === '' ? 'there is no plan\n' : text,
    table: contentTable(plans),
    names: plans.map(({ source }) => source),
  };
}

function contentTable(plans: readonly PlanContent[]) {
  const rows = plans.flatMap(({ source, files, instructions, probes }) => [
    ...files.map(({ path, action, effect }) => [source, 'file', path, effect || action]),
    ...instructions.map(({ name, command }) => [source, 'instruction', name, command || 'run.sh']),
    ...probes.map(({ name, address }) => [source, 'probe', name, address]),
  ]);
  return { headings: ['SOURCE', 'KIND', 'NAME', 'DETAIL'], rows };
}

export async function showPlanHistory(options: RunningDaemonOptions): Promise<Answer> {
  const { history } = planServiceDefinition;
  const { plans } = await callRunningDaemon(options, history, {}, ABOUT_PLANS);
  const rows = plans.map((plan) => [
    plan.file,
    short(plan.checksum),
    String(plan.files),
    String(plan.instructions),
    String(plan.periodicInstructions),
    String(plan.probes),
  ]);
  const headings = ['FILE', 'CHECKSUM', 'FILES', 'INSTRUCTIONS', 'PERIODIC', 'PROBES'];
  return {
    value: plans,
    table: { headings, rows, drops: ['CHECKSUM'] },
    names: plans.map(({ file }) => file),
  };
}

/** A request has at most 1 MiB; 1 KiB of it is for other fields. */
const MAX_PLAN_BYTES = 1024 * 1024 - 1024;

export interface ApplyOptions extends RunningDaemonOptions {
  readonly file: string;
  readonly 'dry-run': boolean;
}

export async function applyPlan(options: ApplyOptions): Promise<Answer> {
  const request = { text: await readPlan(options.file), dryRun: options['dry-run'] };
  const answer = await callRunningDaemon(options, planServiceDefinition.apply, request, {
    ...ABOUT_PLANS,
    timeoutMs: Infinity,
  });
  return {
    exitCode: answer.applied && !answer.succeeded ? EXIT.server.planFailed : EXIT.server.ok,
    value: answer,
    text: textOf(answer),
    table: contentTable(answer.plan === undefined ? [] : [answer.plan]),
    names: answer.plan === undefined ? [] : [answer.plan.checksum],
  };
}

async function readPlan(file: string): Promise<Buffer> {
  try {
    return await readBytes(file, { followLinks: true, maxBytes: MAX_PLAN_BYTES });
  } catch (cause) {
    throw new UsageError(`--file: ${messageOf(cause)}`, { cause });
  }
}

function textOf({ plan, ...done }: PlanApplyResponse): string {
  const { applied, succeeded, outputs, probes, failure } = done;
  const content = plan === undefined ? '' : contentText(plan);
  if (!applied) return `${content}nothing was done\n`;
  return (
    content +
    safeLines([
      ...outputs.map(({ name, sizeBytes }) => `  output ${name}: ${sizeBytes} bytes`),
      ...probeLines(probes),
      ...failureLines(failure),
      succeeded ? 'the plan was applied' : 'an instruction failed',
    ])
  );
}
