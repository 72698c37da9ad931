import { messageOf } from '@wins/base';
import { DaemonCallError } from '../daemon-call-error.js';

/** One thing that the doctor looked at. */
export interface Finding {
  /** Subject of the check: `config`, `whitelist`, `pipe`, … */
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  /** The finding and its place. */
  readonly found: string;
  /** Remedy; absent with `ok` alone. */
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

/**
 * A finding that there is none.
 *
 * @param what - What could not be found out: `the state of csi-proxy`. Default: all that the check is about.
 */
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

/** A finding that is wrong. */
export function problem(check: string, found: string, advice: string): Finding {
  return { check, level: 'problem', found, advice };
}
