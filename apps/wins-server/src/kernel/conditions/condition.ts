/** `problem`: something that the config asks for does not work. `warning`: it may soon not work, or somebody should look. */
export type Level = 'ok' | 'warning' | 'problem';

/** State of one part of a node. Status, doctor, health, metrics and events are views of conditions. */
export interface Condition {
  /** Part of the node, such as `audit`. */
  readonly check: string;
  /** Stable name for programs, such as `planFailed`. Absent only for `ok`. */
  readonly code?: string | undefined;
  readonly level: Level;
  readonly found: string;
  /** Next step. Absent only for `ok`. */
  readonly advice?: string | undefined;
  /** When the daemon saw it first (RFC 3339). Absent if the command that reports it found it itself. */
  readonly since?: string | undefined;
}

/** A condition as a feature, or a command that looks at the host, reports it. */
export interface Reported extends Condition {
  /** Tells several conditions of one code apart. Default: there is one. */
  readonly subject?: string;
  /** Milliseconds that it must last in a daemon before it is visible, so that a short blip is not. Default: 0. */
  readonly visibleAfterMs?: number;
  /** Codes of conditions that cause this one. A report that has one of them omits this one. */
  readonly causes?: readonly string[];
  /** Whether `wins status` shows it although it is `ok`. Default: no. */
  readonly isSummary?: boolean;
}

export function counted(number: number, word: string): string {
  return `${number} ${word}${number === 1 ? '' : 's'}`;
}

type More = Pick<Reported, 'subject' | 'visibleAfterMs' | 'causes'>;

export function ok(check: string, found: string): Reported {
  return { check, level: 'ok', found };
}

/** A condition that is `ok`, and that `wins status` shows. */
export function summary(check: string, found: string): Reported {
  return { check, level: 'ok', found, isSummary: true };
}

export function warning(
  check: string,
  code: string,
  found: string,
  advice: string,
  more: More = {},
): Reported {
  return { check, code, level: 'warning', found, advice, ...more };
}

export function problem(
  check: string,
  code: string,
  found: string,
  advice: string,
  more: More = {},
): Reported {
  return { check, code, level: 'problem', found, advice, ...more };
}

/** Leaves out what others of the list cause. */
export function withoutCaused(reported: readonly Reported[]): readonly Reported[] {
  const codes = new Set(reported.flatMap(({ level, code }) => (level === 'ok' ? [] : [code])));
  return reported.filter(({ causes = [] }) => !causes.some((cause) => codes.has(cause)));
}

/** Leaves out what others of the list cause, and what only the producer of a condition needs. */
export function reportOf(
  reported: readonly Reported[],
  isShown: (one: Reported) => boolean = () => true,
): readonly Condition[] {
  return withoutCaused(reported)
    .filter(isShown)
    .map(({ check, code, level, found, advice, since }) => ({
      check,
      ...(code !== undefined && { code }),
      level,
      found,
      ...(advice !== undefined && { advice }),
      ...(since !== undefined && { since }),
    }));
}
