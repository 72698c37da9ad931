import { CsiProxyError, type CsiProxyErrorCode } from '../csi-proxy-error.js';
import { backoffMs } from '@wins/time';

export type CsiProxyState =
  /** Nothing of ours is installed. */
  | { readonly kind: 'absent'; readonly detail: string }
  | { readonly kind: 'fetching'; readonly version: string }
  /** The program is on the disk, but the service does not run it yet. */
  | { readonly kind: 'verified'; readonly version: string }
  /** The service was started, but its pipe does not exist yet. */
  | { readonly kind: 'installed'; readonly version: string }
  | { readonly kind: 'serving'; readonly detail: string }
  | {
      readonly kind: 'failed';
      readonly code: CsiProxyErrorCode;
      readonly detail: string;
      readonly failures: number;
      readonly retryAt: Date;
    };

type StateKind = CsiProxyState['kind'];

/** Legal transitions. A state may always follow itself, with another detail. */
export const MOVES: Readonly<Record<StateKind, readonly StateKind[]>> = {
  absent: ['fetching', 'verified', 'serving', 'failed'],
  fetching: ['verified', 'serving', 'absent', 'failed'],
  verified: ['installed', 'serving', 'fetching', 'absent', 'failed'],
  installed: ['serving', 'absent', 'failed'],
  serving: ['fetching', 'verified', 'absent', 'failed'],
  failed: ['fetching', 'verified', 'serving', 'absent'],
};

/** @throws FeatureError `serviceFailed` for an illegal transition, which is a bug. */
export function nextState(from: CsiProxyState, to: CsiProxyState): CsiProxyState {
  if (from.kind === to.kind || MOVES[from.kind].includes(to.kind)) return to;
  throw new CsiProxyError('serviceFailed', `cannot go from ${from.kind} to ${to.kind}`);
}

const MINUTE_MS = 60_000;
const USUAL = { initialMs: 5_000, maxMs: 10 * MINUTE_MS };
const SELDOM = { initialMs: 10 * MINUTE_MS, maxMs: 6 * 60 * MINUTE_MS };

/** Retried rarely, because a retry would fail again or interrupt the volumes of the node. */
const COSTLY: ReadonlySet<CsiProxyErrorCode> = new Set([
  'archiveRefused',
  'digestMismatch',
  'notServing',
]);

/**
 * Returns the delay after a failure: 5 s, doubled up to 10 min; after a costly failure 10 min, doubled up to 6 h. Half of it is random, so that nodes
 * do not all call a server at once.
 * @param failures - Failures in a row, from 1.
 */
export function retryDelayMs(code: CsiProxyErrorCode, failures: number, random = Math.random()) {
  const waits = COSTLY.has(code) ? SELDOM : USUAL;
  return backoffMs({ ...waits, random: () => random }, failures);
}
