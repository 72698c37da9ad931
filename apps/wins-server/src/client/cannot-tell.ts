import { messageOf } from '@wins/base';
import { warning, type Reported } from '../kernel/conditions/condition.js';
import { DaemonCallError } from './daemon-call-error.js';

/** @param what - The unknown fact. Default: the whole subject of the check. */
export function cannotTell(check: string, error: unknown, what?: string): Reported {
  const { found = messageOf(error), nextStep = UNTOLD } =
    error instanceof DaemonCallError ? error : {};
  const subject = what === undefined ? '' : ` ${what}`;
  return warning(check, 'cannotTell', `cannot determine${subject}: ${found}`, nextStep);
}

const UNTOLD = 'run this as an administrator; if you did, see the cause in the message';
