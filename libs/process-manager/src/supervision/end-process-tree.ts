import type { ProcessTree } from '@wins/base';
import { Backoff, systemClock } from '@wins/time';
import { performance } from 'node:perf_hooks';

/**
 * Ends a tree: asks it to end, waits up to `graceMs`, then kills it for up to `graceMs` more, including processes
 * started in the meantime. Resolves with true when the tree is gone, else with false: a process remains only if the
 * kernel cannot end it or we may not signal it.
 *
 * @param force - Aborts to skip the grace time and kill the tree at once.
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
    // Compare the time that was left before the poll, because on a busy system a poll may take longer than the limit.
    if (leftMs <= 0 || signal?.aborted === true) return false;
    const pauseMs = Math.min(looks.nextMs(), Math.max(1, leftMs));
    await systemClock.wait(pauseMs, signal).catch(() => undefined);
    leftMs = deadline - performance.now();
  }
}

/** Returns true when a promise, which must never reject, resolves within `limitMs`. */
export function resolvesInTime(promise: Promise<unknown>, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(false), limitMs);
    void promise.then(() => {
      clearTimeout(timer);
      resolve(true);
    });
  });
}
