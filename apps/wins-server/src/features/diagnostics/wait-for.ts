import { setTimeout as delay } from 'node:timers/promises';
import { FeatureError } from '../../kernel/feature-error.js';
import { DIAGNOSTIC_LIMITS } from './limits.js';

/** For how long something is recorded. */
export interface RecordOptions {
  /** From more than 0 to 60. */
  readonly seconds: number;
  /** Ends it before its time, without a result. */
  readonly signal?: AbortSignal | undefined;
}

/** @throws FeatureError `invalidArgument` for a time that is not within the limits. */
export function requireSeconds(tried: string, seconds: number): void {
  const { longestSeconds } = DIAGNOSTIC_LIMITS;
  if (seconds > 0 && seconds <= longestSeconds) return;
  const message = `cannot ${tried}: found ${seconds} s; wanted more than 0 and at most ${longestSeconds}`;
  throw new FeatureError('invalidArgument', message);
}

/** Resolves when the time is over, or `enough` says so. @throws the reason of the signal. */
export async function waitFor(
  { seconds, signal }: RecordOptions,
  enough?: AbortSignal,
): Promise<void> {
  const signals = [signal, enough].filter((each) => each !== undefined);
  await delay(seconds * 1000, undefined, {
    ...(signals.length > 0 && { signal: AbortSignal.any(signals) }),
  }).catch((error: unknown) => {
    signal?.throwIfAborted();
    if (enough?.aborted !== true) throw error;
  });
}
