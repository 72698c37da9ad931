import type {
  PlanContent,
  PlanFailure,
  PlanProbeState,
  PlanSource,
  PlanStatusResponse,
} from '@wins/wins-api/contract';
import { escapeText } from '@wins/base';
import { safeLines } from '../safe-lines.js';

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
