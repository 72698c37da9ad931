import { about } from './notation.js';
import { count, flag, matching, section, shown } from './value-schemas.js';

const MOST_MS = 24 * 3_600_000;

/** Delays of restarts for which the config names none. */
export const DEFAULT_BACKOFF = { delayMs: 1000, maxDelayMs: 5 * 60_000 } as const;

interface Delays {
  readonly delayMs: number;
  readonly maxDelayMs: number;
}

const hasOrder = ({ delayMs, maxDelayMs }: Delays): boolean => delayMs <= maxDelayMs;
const ORDER = { error: 'at most maxDelayMs', path: ['delayMs'] };

/** Restarts that a client may request. */
export function grantedRestarts() {
  const allow = about(flag(), 'Whether a client may request restarts (prc run --restart).');
  return section({ allow: allow.default(true), ...backoffKeys() }).refine(hasOrder, ORDER);
}

/** Restarts of a program that the daemon keeps running. */
export function keptRestarts() {
  const policy = about(
    shown(
      matching(
        /^(?:no|always|on-failure(?::[1-9]\d{0,8})?)$/,
        'no, always, on-failure or on-failure:N',
      ),
    ),
    'Restart policy: no, always, on-failure or on-failure:N.',
    { asWritten: 'text' },
  );
  return section({ policy: policy.default('always'), ...backoffKeys() }).refine(hasOrder, ORDER);
}

function backoffKeys() {
  return {
    delayMs: about(
      count('milliseconds', MOST_MS),
      'First delay before a restart, in milliseconds. Each failure in a row doubles it.',
    ).default(DEFAULT_BACKOFF.delayMs),
    maxDelayMs: about(
      count('milliseconds', MOST_MS),
      'Longest delay before a restart, in milliseconds.',
    ).default(DEFAULT_BACKOFF.maxDelayMs),
    giveUpAfter: about(
      count('restarts', 999_999_999),
      'Failed restarts in a row after which the run is given up. By default as many as its policy allows.',
      { absent: 'as many as its policy allows' },
    ).exactOptional(),
  };
}
