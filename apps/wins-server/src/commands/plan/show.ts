import { camelCaseKeys, planServiceDefinition } from '@wins/wins-api/contract';
import { EXIT, type CommandSurroundings } from '@wins/base';
import { callRunningDaemon, type Question, type RunningDaemonOptions } from '../running-daemon.js';
import { contentText, statusText } from './plan-text.js';

/** Query about plans to the running daemon; exit code 65 for a plan that cannot be applied. */
export const ABOUT_PLANS: Question = {
  asker: 'wins srv plan',
  exitCode: (code) =>
    code === 'failedPrecondition' || code === 'invalidRequest'
      ? EXIT.server.invalidPlan
      : undefined,
};

export async function showPlanStatus(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { status } = planServiceDefinition;
  const answer = await callRunningDaemon(options, status, {}, ABOUT_PLANS);
  await show({ value: camelCaseKeys(answer), text: statusText(answer) });
  return EXIT.server.ok;
}

export async function showPlans(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { show: method } = planServiceDefinition;
  const { Plans: plans } = await callRunningDaemon(options, method, {}, ABOUT_PLANS);
  const text = plans.map(contentText).join('');
  await show({ value: camelCaseKeys(plans), text: text === '' ? 'there is no plan\n' : text });
  return EXIT.server.ok;
}

export async function showPlanHistory(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { history } = planServiceDefinition;
  const { Plans: plans } = await callRunningDaemon(options, history, {}, ABOUT_PLANS);
  const rows = plans.map((plan) => [
    ...[plan.File, plan.Checksum.slice(0, 12), String(plan.Files)],
    ...[String(plan.Instructions), String(plan.PeriodicInstructions), String(plan.Probes)],
  ]);
  const headings = ['FILE', 'CHECKSUM', 'FILES', 'INSTRUCTIONS', 'PERIODIC', 'PROBES'];
  await show({
    value: camelCaseKeys(plans),
    table: { headings, rows },
    names: plans.map(({ File }) => File),
  });
  return EXIT.server.ok;
}
