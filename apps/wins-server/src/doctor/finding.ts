import { escapeText, EXIT, messageOf } from '@wins/base';
import { DaemonCallError } from '../daemon-call-error.js';
import { counted, warning, type Condition, type Reported } from '../kernel/conditions/condition.js';

/** @param what - The unknown fact. Default: the whole subject of the check. */
export function cannotTell(check: string, error: unknown, what?: string): Reported {
  const { found = messageOf(error), nextStep = UNTOLD } =
    error instanceof DaemonCallError ? error : {};
  const subject = what === undefined ? '' : ` ${what}`;
  return warning(check, 'cannotTell', `cannot determine${subject}: ${found}`, nextStep);
}

const UNTOLD = 'run this as an administrator; if you did, see the cause in the message';

/** Returns true when the output is a terminal with colours (https://no-color.org). */
function isPainted(): boolean {
  return process.stdout.isTTY && !process.env['NO_COLOR'];
}

const COLOUR = { ok: 32, warning: 33, problem: 31 } as const;

/** @param shown - Those with a line each; the last line counts all. */
export function textReport(
  findings: readonly Condition[],
  shown = findings,
  isColoured = isPainted(),
): string {
  const width = Math.max(0, ...shown.map(({ check }) => check.length));
  const lines = shown.flatMap(({ check, level, found, advice }) => {
    const word = level.padEnd('problem'.length);
    const painted = isColoured ? `\u001b[${COLOUR[level]}m${word}\u001b[0m` : word;
    const line = `${painted}  ${check.padEnd(width)}  ${escapeText(found)}`;
    return advice === undefined
      ? [line]
      : [line, `${' '.repeat(width + 11)}→ ${escapeText(advice)}`];
  });
  return `${lines.join('\n')}\n\n${verdict(findings)}\n`;
}

/** @param shown - Those that the value lists; all decide whether the node is healthy. */
export function reportValue(findings: readonly Condition[], shown = findings) {
  return { healthy: exitCodeForFindings(findings) === EXIT.doctor.ok, findings: shown };
}

export function exitCodeForFindings(findings: readonly Condition[]): number {
  if (findings.some(({ level }) => level === 'problem')) return EXIT.doctor.problems;
  return findings.some(({ level }) => level === 'warning') ? EXIT.doctor.warnings : EXIT.doctor.ok;
}

function verdict(findings: readonly Condition[]): string {
  const count = (level: Condition['level']) =>
    findings.filter((finding) => finding.level === level).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (problems + warnings === 0) return 'all is well';
  return `${counted(problems, 'problem')}, ${counted(warnings, 'warning')}`;
}
