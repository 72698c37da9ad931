import { planServiceDefinition } from '@wins/wins-api/contract';
import { EXIT, type CommandSurroundings } from '@wins/wins-program';
import { askAboutPlans, askPlanStatus } from './ask-about-plans.js';
import { contentText, statusText } from './plan-text.js';
import type { RunningDaemonOptions } from '../running-daemon.js';

/** `wins srv plan status`: where each plan stands. */
export async function showPlanStatus(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const answer = await askPlanStatus(options);
  await show({ value: answer, text: statusText(answer) });
  return EXIT.server.ok;
}

/** `wins srv plan show`: what each plan wants. */
export async function showPlans(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { Plans: plans } = await askAboutPlans(options, (client, signal) =>
    client.call(planServiceDefinition.show, {}, { signal }),
  );
  const text = plans.map(contentText).join('');
  await show({ value: plans, text: text === '' ? 'there is no plan\n' : text });
  return EXIT.server.ok;
}

/** `wins srv plan history`: the plans that were applied. */
export async function showPlanHistory(
  options: RunningDaemonOptions,
  { show }: CommandSurroundings,
): Promise<number> {
  const { Plans: plans } = await askAboutPlans(options, (client, signal) =>
    client.call(planServiceDefinition.history, {}, { signal }),
  );
  const rows = plans.map((plan) => [
    ...[plan.File, plan.Checksum.slice(0, 12), String(plan.Files)],
    ...[String(plan.Instructions), String(plan.PeriodicInstructions), String(plan.Probes)],
  ]);
  const headings = ['FILE', 'CHECKSUM', 'FILES', 'INSTRUCTIONS', 'PERIODIC', 'PROBES'];
  await show({ value: plans, table: { headings, rows }, names: plans.map(({ File }) => File) });
  return EXIT.server.ok;
}
