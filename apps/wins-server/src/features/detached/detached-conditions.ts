import { isKept, stateOf, type DetachedRun, type DetachedRuns } from '@wins/process-manager';
import { problem, summary, warning, type Reported } from '../../kernel/conditions/condition.js';

export const NAME = 'detached runs';

/** Reports detached runs that the daemon does not start again. */
export function detachedConditions(
  all: Pick<DetachedRuns, 'list' | 'nameFor'>,
): readonly Reported[] {
  const runs = all.list();
  const labels = runs.map(({ label }) => label);
  const unwell = runs.flatMap((run) => {
    // Administrators may use a label that only one run has.
    const isOnly = labels.indexOf(run.label) === labels.lastIndexOf(run.label);
    return judgeRun(run, isOnly ? run.label : all.nameFor(run));
  });
  if (unwell.length > 0 || runs.length === 0) return unwell;
  return [summary(NAME, `${runs.length} kept, all as they should be`)];
}

function judgeRun(run: DetachedRun, name: string): readonly Reported[] {
  const { plan, refused, label } = run;
  const subject = name;
  const start = `wins cli prc start ${name}`;
  const level = isKept(label) ? problem : warning;
  const state = stateOf(run);
  if (plan?.next.kind === 'gaveUp' && state === 'gaveUp') {
    const advice = `see wins cli prc logs ${name}; "${start}" starts it`;
    const found = `${name} will not be started again: ${plan.next.reason}`;
    return [level(NAME, 'runGaveUp', found, advice, { subject })];
  }
  if (state === 'stopped' && isKept(label)) {
    const found = `${name} was stopped, and stays so`;
    return [warning(NAME, 'keptProgramStopped', found, `"${start}" starts it`, { subject })];
  }
  if (refused === undefined) return [];
  const advice = `mend the cause: the daemon tries again, or now by "${start}"`;
  const found = `${name} cannot be started: ${refused.message}`;
  return [level(NAME, 'runRefused', found, advice, { subject })];
}
