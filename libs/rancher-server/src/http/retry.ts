import { formatDuration } from '@wins/wins-program';
import { RancherError } from '../rancher-error.js';
import type { CompleteSettings } from './http-settings.js';
import { judgeRetry } from './judge-retry.js';
import { maskedError } from './masked-error.js';

/** How often something is tried. */
export interface RetryOptions {
  /** What is done, as the end of "cannot". */
  readonly what: string;
  readonly timeoutMs: number;
  readonly settings: CompleteSettings;
  /** Whether another attempt may still be made. Default: always. */
  readonly mayRepeat?: () => boolean;
}

/**
 * Tries until it succeeds, fails for good, or the time is over; then the last failure is what is thrown. An attempt gets no more time
 * than is left.
 */
export async function retry<T>(
  { what, timeoutMs, settings, mayRepeat = () => true }: RetryOptions,
  attempt: (settings: CompleteSettings) => Promise<T>,
): Promise<T> {
  const { clock, random, signal, onWarning, limits } = settings;
  const startMs = clock.now().getTime();
  for (let attempts = 1; ; attempts += 1) {
    const leftMs = timeoutMs - (clock.now().getTime() - startMs);
    // One attempt has the time that it needs where none is to be repeated.
    const totalMs = timeoutMs === 0 ? limits.totalMs : Math.min(limits.totalMs, leftMs);
    try {
      return await attempt({ ...settings, limits: { ...limits, totalMs } });
    } catch (thrown) {
      if (!(thrown instanceof RancherError)) throw thrown;
      const error = maskedError(thrown, settings.secrets);
      const elapsedMs = clock.now().getTime() - startMs;
      const waitMs = judgeRetry({
        ...{ isTransient: error.isTransient && mayRepeat(), retryAfterMs: error.retryAfterMs },
        ...{ attempts, elapsedMs, timeoutMs, random: random() },
      });
      if (waitMs === undefined) throw attempts === 1 ? error : last(error, attempts, elapsedMs);
      onWarning(`${error.message}; trying again in ${formatDuration(waitMs)}`);
      await waitFor(waitMs);
    }
  }

  async function waitFor(ms: number): Promise<void> {
    try {
      await clock.wait(ms, signal);
    } catch (error) {
      if (signal?.aborted !== true) throw error;
      throw new RancherError('aborted', `cannot ${what}: it was aborted`);
    }
  }
}

function last(error: RancherError, attempts: number, elapsedMs: number): RancherError {
  const { code, status, retryAfterMs, isTransient } = error;
  const message = `${error.message}; tried ${attempts} times in ${formatDuration(elapsedMs)}`;
  return new RancherError(code, message, {
    ...{ isTransient, cause: error },
    ...(status !== undefined && { status }),
    ...(retryAfterMs !== undefined && { retryAfterMs }),
  });
}
