import { backoffMs } from '@wins/time';
import type { FeatureErrorCode } from '../../../kernel/feature-error.js';

const MINUTE_MS = 60_000;
const USUAL = { initialMs: 5_000, maxMs: 10 * MINUTE_MS };
const SELDOM = { initialMs: 10 * MINUTE_MS, maxMs: 6 * 60 * MINUTE_MS };

/** What another try would only repeat, or what interrupts the volumes of the node: tried again seldom. */
const COSTLY: ReadonlySet<FeatureErrorCode> = new Set([
  'archiveRefused',
  'digestMismatch',
  'notServing',
]);

/**
 * How long to wait after a failure: 5 s, twice as long after each further one, 10 min at most; 10 min to 6 h for what is costly. Between half and
 * all of that, so that the nodes of a cluster do not ask a server at once. Pure.
 *
 * @param failures - In succession, from 1.
 * @param random - From 0 to 1. Default: at random.
 */
export function retryDelayMs(
  code: FeatureErrorCode,
  failures: number,
  random = Math.random(),
): number {
  const waits = COSTLY.has(code) ? SELDOM : USUAL;
  return backoffMs({ ...waits, random: () => random }, failures);
}
