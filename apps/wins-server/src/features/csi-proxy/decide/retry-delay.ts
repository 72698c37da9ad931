import { backoffMs } from '@wins/time';
import type { FeatureErrorCode } from '../../../kernel/feature-error.js';

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;

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
  const isCostly = COSTLY.has(code);
  const [initialMs, maxMs] = isCostly
    ? [10 * MINUTE_MS, 6 * 60 * MINUTE_MS]
    : [5 * SECOND_MS, 10 * MINUTE_MS];
  return backoffMs({ initialMs, maxMs, random: () => random }, failures);
}
