import { messageOf } from '@wins/base';
import { DaemonCallError } from '../daemon-call-error.js';

export interface Finding {
  /** Subject of the check, such as `config`, `whitelist` or `pipe`. */
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  readonly found: string;
  /** Remedy; absent only for `ok`. */
  readonly advice?: string;
}

export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found };
}

export function warning(check: string, found: string, advice: string): Finding {
  return { check, level: 'warning', found, advice };
}

/** @param what - Fact that could not be determined. Default: the whole subject of the check. */
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
