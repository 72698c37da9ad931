/** One thing that the doctor looked at. */
export interface Finding {
  /** What was looked at: `config`, `whitelist`, `pipe`, … */
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  /** What was found, where. */
  readonly found: string;
  /** What to do about it; absent with `ok` alone. */
  readonly advice?: string;
}

/** A finding that needs no action. */
export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found };
}

/** A finding that may be intended. */
export function warning(check: string, found: string, advice: string): Finding {
  return { check, level: 'warning', found, advice };
}

/** A finding that is wrong. */
export function problem(check: string, found: string, advice: string): Finding {
  return { check, level: 'problem', found, advice };
}
