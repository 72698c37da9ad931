import { camelCaseKeys, planServiceDefinition } from '@wins/wins-api/contract';
import { EXIT, type Answer } from '@wins/base';
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
