import { escapeText, EXIT } from '@wins/base';
import { counted, type Condition, type Level } from './condition.js';

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
  return `${lines.join('\n')}\n\n${verdictOf(findings)}\n`;
}

/** @param shown - Those that the value lists; all decide whether the node is healthy. */
export function reportValue(findings: readonly Condition[], shown = findings) {
  return { healthy: worstLevel(findings) === 'ok', findings: shown };
}

const EXIT_CODES = {
  ok: EXIT.doctor.ok,
  warning: EXIT.doctor.warnings,
  problem: EXIT.doctor.problems,
} as const;

export function exitCodeForFindings(findings: readonly Condition[]): number {
  return EXIT_CODES[worstLevel(findings)];
}

export function worstLevel(findings: readonly Condition[]): Level {
  const has = (wanted: Level) => findings.some(({ level }) => level === wanted);
  return (['problem', 'warning'] as const).find(has) ?? 'ok';
}

/** `2 problems, 1 warning`. */
export function verdictOf(findings: readonly Condition[]): string {
  if (worstLevel(findings) === 'ok') return 'all is well';
  const count = (level: Level) =>
    counted(findings.filter((one) => one.level === level).length, level);
  return `${count('problem')}, ${count('warning')}`;
}
