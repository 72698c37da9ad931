/** One thing that the doctor looked at. */
export interface Finding {
  /** What was looked at: `config`, `whitelist`, `pipe`, … */
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  /** What was found, where. */
  readonly found: string;
  /** What to do about it; with everything that is not `ok`. */
  readonly advice?: string;
}

/** A finding that needs nobody. */
export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found };
}

/** A finding that may be meant so. */
export function warning(check: string, found: string, advice: string): Finding {
  return { check, level: 'warning', found, advice };
}

/** A finding that is wrong. */
export function problem(check: string, found: string, advice: string): Finding {
  return { check, level: 'problem', found, advice };
}
