import { backoffMs } from '@wins/time';
import { FeatureError, type FeatureErrorCode } from '../../../kernel/feature-error.js';

export type CsiProxyState =
  /** Nothing of ours is there; `detail` says why. */
  | { readonly kind: 'absent'; readonly detail: string }
  | { readonly kind: 'fetching'; readonly version: string }
  /** The program is on the disk, and the service does not run it yet. */
  | { readonly kind: 'verified'; readonly version: string }
  /** The service was started, and its pipe is waited for. */
  | { readonly kind: 'installed'; readonly version: string }
  | { readonly kind: 'serving'; readonly detail: string }
  | {
      readonly kind: 'failed';
      readonly code: FeatureErrorCode;
      readonly detail: string;
      /** In succession. */
      readonly failures: number;
      readonly retryAt: Date;
    };

type StateKind = CsiProxyState['kind'];

/** Which state may follow which. A state may always be told again with another detail. */
export const MOVES: Readonly<Record<StateKind, readonly StateKind[]>> = {
  absent: ['fetching', 'verified', 'serving', 'failed'],
  fetching: ['verified', 'serving', 'absent', 'failed'],
  verified: ['installed', 'serving', 'fetching', 'absent', 'failed'],
  installed: ['serving', 'absent', 'failed'],
  serving: ['fetching', 'verified', 'absent', 'failed'],
  failed: ['fetching', 'verified', 'serving', 'absent'],
};

/** The next state, if it may follow. @throws FeatureError `serviceFailed` for a move that is not in the table: a fault of the keeper. */
export function nextState(from: CsiProxyState, to: CsiProxyState): CsiProxyState {
  if (from.kind === to.kind || MOVES[from.kind].includes(to.kind)) return to;
  throw new FeatureError('serviceFailed', `cannot go from ${from.kind} to ${to.kind}`);
}

const MINUTE_MS = 60_000;
const USUAL = { initialMs: 5_000, maxMs: 10 * MINUTE_MS };
const SELDOM = { initialMs: 10 * MINUTE_MS, maxMs: 6 * 60 * MINUTE_MS };

/** Failures that another try would only repeat, or that interrupt the volumes of the node; retried rarely. */
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
