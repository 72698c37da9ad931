import type { ProcessTree } from '@wins/base';
import { Backoff, systemClock } from '@wins/time';
import { performance } from 'node:perf_hooks';

/**
 * Asks a tree to end and waits up to `graceMs`. Then kills its processes, including new ones, until all are gone or `graceMs` has
 * passed again.
 * Resolves with true when the tree is gone; false means that a process cannot be ended or signalled.
 *
 * @param force - Skips the grace time when it aborts.
 */
export async function endProcessTree(
  tree: ProcessTree,
  graceMs: number,
  onForce: () => void = () => undefined,
  force?: AbortSignal,
): Promise<boolean> {
  if (force?.aborted !== true) {
    await tree.terminate('graceful');
    if (await isGoneWithin(tree, graceMs, { signal: force })) return true;
  }
  onForce();
  return isGoneWithin(tree, graceMs, { beforeEachLook: () => tree.terminate('force') });
}

// No operating system reports when the last process of a tree is gone, so poll, at growing intervals.
async function isGoneWithin(
  tree: ProcessTree,
  limitMs: number,
  {
    beforeEachLook = () => Promise.resolve(),
    signal,
  }: {
    readonly beforeEachLook?: () => Promise<void>;
    readonly signal?: AbortSignal | undefined;
  },
): Promise<boolean> {
  const deadline = performance.now() + limitMs;
  let leftMs = limitMs;
  const looks = new Backoff({ initialMs: 2, maxMs: 50, jitter: 0 });
  for (;;) {
    await beforeEachLook();
    if (await tree.isGone()) return true;
    // `leftMs` was computed before this poll. If the poll outlasts the limit, as on a busy system, one more poll follows.
    if (leftMs <= 0 || signal?.aborted === true) return false;
    const pauseMs = Math.min(looks.nextMs(), Math.max(1, leftMs));
    await systemClock.wait(pauseMs, { signal }).catch(() => undefined);
    leftMs = deadline - performance.now();
  }
}

/** The promise must never reject. */
export function resolvesInTime(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
