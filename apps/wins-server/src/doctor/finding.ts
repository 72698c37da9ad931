import { escapeText, EXIT, messageOf } from '@wins/base';
import { DaemonCallError } from '../daemon-call-error.js';

export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** Absent only for `ok`. */
  readonly advice?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found };
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, level: 'warning', found, advice };
}

/** @param what - The unknown fact. Default: the whole subject of the check. */
export function cannotTell(check: string, error: unknown, what?: string): Finding {
  const { found = messageOf(error), nextStep = UNTOLD } =
    error instanceof DaemonCallError ? error : {};
  return warning(
    check,
    `cannot determine${what === undefined ? '' : ` ${what}`}: ${found}`,
    nextStep,
  );
}

const UNTOLD = 'run this as an administrator; if you did, see the cause in the message';

export function problem(check: string, found: string, advice: string): Finding {
  return { check, level: 'problem', found, advice };
}

/** Returns true when the output is a terminal with colours (https://no-color.org). */
function isPainted(): boolean {
  return process.stdout.isTTY && !process.env['NO_COLOR'];
}

const COLOUR = { ok: 32, warning: 33, problem: 31 } as const;

export function textReport(findings: readonly Finding[], isColoured = isPainted()): string {
  const width = Math.max(...findings.map(({ check }) => check.length));
  const lines = findings.flatMap(({ check, level, found, advice }) => {
    const word = level.padEnd('problem'.length);
    const shown = isColoured ? `\u001b[${COLOUR[level]}m${word}\u001b[0m` : word;
    const line = `${shown}  ${check.padEnd(width)}  ${escapeText(found)}`;
    return advice === undefined
      ? [line]
      : [line, `${' '.repeat(width + 11)}→ ${escapeText(advice)}`];
  });
  return `${lines.join('\n')}\n\n${summary(findings)}\n`;
}

export function reportValue(findings: readonly Finding[]) {
  return { healthy: exitCodeForFindings(findings) === EXIT.doctor.ok, findings };
}

export function exitCodeForFindings(findings: readonly Finding[]): number {
  if (findings.some(({ level }) => level === 'problem')) return EXIT.doctor.problems;
  return findings.some(({ level }) => level === 'warning') ? EXIT.doctor.warnings : EXIT.doctor.ok;
}

function summary(findings: readonly Finding[]): string {
  const count = (level: Finding['level']) =>
    findings.filter((finding) => finding.level === level).length;
  const [problems, warnings] = [count('problem'), count('warning')];
  if (problems + warnings === 0) return 'all is well';
  return `${plural(problems, 'problem')}, ${plural(warnings, 'warning')}`;
}

function plural(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? '' : 's'}`;
}
