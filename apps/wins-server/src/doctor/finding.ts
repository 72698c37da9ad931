import { messageOf } from '@wins/base';
import { DaemonCallError } from '../daemon-call-error.js';

/** Finding of the doctor about one subject. */
export interface Finding {
  /** Subject of the check, such as `config`, `whitelist` or `pipe`. */
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'problem';
  /** Finding, with its location. */
  readonly found: string;
  /** Remedy; absent only for `ok`. */
  readonly advice?: string;
}

/** Creates a finding that needs no action. */
export function ok(check: string, found: string): Finding {
  return { check, level: 'ok', found };
}

/** Creates a finding that may be intended. */
export function warning(check: string, found: string, advice: string): Finding {
  return { check, level: 'warning', found, advice };
}

/**
 * Creates a warning that a check could not be completed.
 * @param what - Fact that could not be determined, such as `the state of csi-proxy`. Default: the whole subject of the check.
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

/** Creates a finding about a fault. */
export function problem(check: string, found: string, advice: string): Finding {
  return { check, level: 'problem', found, advice };
}
