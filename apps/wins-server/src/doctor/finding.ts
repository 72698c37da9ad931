import { escapeText, EXIT } from '@wins/base';
import { counted, type Condition } from '../kernel/conditions/condition.js';

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
