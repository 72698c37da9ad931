import * as z from 'zod/mini';
import { count, flag, matching, optional, section, shown, withDefault } from './value-schemas.js';

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
  const meaning = 'Whether a client may request restarts (prc run --restart).';
  return section({ allow: withDefault(flag(), true, meaning), ...backoffKeys() }).check(
    z.refine(hasOrder, ORDER),
  );
}

/** Restarts of a program that the daemon keeps running. */
export function keptRestarts() {
  const policy = withDefault(
    shown(
      matching(
        /^(?:no|always|on-failure(?::[1-9]\d{0,8})?)$/,
        'no, always, on-failure or on-failure:N',
      ),
    ),
    'always',
    'Restart policy: no, always, on-failure or on-failure:N.',
    { asWritten: 'text' },
  );
  return section({ policy, ...backoffKeys() }).check(z.refine(hasOrder, ORDER));
}

function backoffKeys() {
  return {
    delayMs: withDefault(
      count('milliseconds', MOST_MS),
      DEFAULT_BACKOFF.delayMs,
      'First delay before a restart, in milliseconds. Each failure in a row doubles it.',
    ),
    maxDelayMs: withDefault(
      count('milliseconds', MOST_MS),
      DEFAULT_BACKOFF.maxDelayMs,
      'Longest delay before a restart, in milliseconds.',
    ),
    giveUpAfter: optional(
      count('restarts', 999_999_999),
      'Failed restarts in a row after which the run is given up. By default as many as its policy allows.',
      { absent: 'as many as its policy allows' },
    ),
  };
}
