import type { PeriodicInstruction } from '../plan/plan.js';
import { execute, type ExecutionResult, type PassContext } from './execute.js';
import type { PassResult, PeriodicStatus } from './pass.js';
import { parseUnixDate, unixDate } from './unix-date.js';

export type InstructionsResult = Pick<PassResult, 'succeeded' | 'failure' | 'outputs'>;

/**
 * Stops at the first failed instruction, and saves its output too. @throws as `execute`.
 */
export async function runInstructions(context: PassContext, attempt: number) {
  const { plan, source } = context.pass;
  let { outputs } = context.pass;
  for (const [index, command] of plan.instructions.entries()) {
    const result = await execute(context, { command, index, periodic: false, attempt });
    const name = command.name ?? '';
    if (command.saveOutput && name !== '') outputs = { ...outputs, [name]: result.stdout };
    else if (command.saveOutput) {
      const message = `the output of instruction ${index} is not saved: it has no name`;
      context.warnings.tell(source, `unnamed instruction ${index}`, message);
    }
    const { failure } = result;
    if (failure !== undefined) return { succeeded: false, failure, outputs };
  }
  return { succeeded: true, outputs };
}

const COOL_DOWN_MS = 30_000;
const MAX_COOL_DOWNS = 6;
type Statuses = Readonly<Record<string, PeriodicStatus>>;

/** Stops at the first failure; later instructions stay due. */
export async function runPeriodic(context: PassContext, isForced: boolean): Promise<Statuses> {
  const { plan, source } = context.pass;
  let statuses = context.pass.periodic;
  for (const [index, command] of plan.periodicInstructions.entries()) {
    const name = command.name ?? '';
    if (name === '') {
      const message = `periodic instruction ${index} does not run: it has no name`;
      context.warnings.tell(source, `unnamed periodic instruction ${index}`, message);
      continue;
    }
    const before = Object.hasOwn(statuses, name) ? statuses[name] : undefined;
    if (!isForced && !isDue(command, before, context.now)) continue;
    const attempt = (before?.failures ?? 0) + 1;
    const result = await execute(context, { command, index, periodic: true, attempt });
    statuses = { ...statuses, [name]: statusAfter(command, before, result, context.now) };
    if (result.exitCode !== 0) return statuses;
  }
  return statuses;
}

/** An instruction is due one period after a success, or `n` × 30 s (at most 3 minutes) after the last of `n` failures in a row. */
function isDue(
  { periodSeconds }: PeriodicInstruction,
  before: PeriodicStatus | undefined,
  now: Date,
): boolean {
  if (before === undefined) return true;
  const isFailing = before.failures > 0;
  const last = parseUnixDate(isFailing ? before.lastFailedRunTime : before.lastSuccessfulRunTime);
  if (last === undefined) return true;
  const coolDownMs = COOL_DOWN_MS * Math.min(before.failures, MAX_COOL_DOWNS);
  const sinceMs = now.getTime() - last.getTime();
  // A time in the future comes from a clock that was set back.
  return sinceMs < 0 || sinceMs >= (isFailing ? coolDownMs : periodSeconds * 1000);
}

function statusAfter(
  { name = '', saveStderrOutput }: PeriodicInstruction,
  before: PeriodicStatus | undefined,
  { exitCode, stdout, stderr }: ExecutionResult,
  now: Date,
): PeriodicStatus {
  const hasFailed = exitCode !== 0;
  return {
    name,
    stdout,
    stderr: saveStderrOutput ? stderr : undefined,
    exitCode,
    lastSuccessfulRunTime: hasFailed ? (before?.lastSuccessfulRunTime ?? '') : unixDate(now),
    failures: hasFailed ? (before?.failures ?? 0) + 1 : 0,
    lastFailedRunTime: hasFailed ? unixDate(now) : '',
  };
}
