import { messageOf } from '@wins/wins-program';
import type { Step } from '../item/step.js';
import type { InstallContext } from './install-context.js';

/** How long a daemon is waited for by who was told to end. */
const AFTER_END_MS = 5_000;

/**
 * Waits for the daemon that was stopped by steps which were undone, so that whoever is told of it finds it serving.
 *
 * @returns What is wrong with it; undefined when it answers, or was not stopped.
 */
export async function daemonAgain(
  { host, signal }: InstallContext,
  steps: readonly Step[],
): Promise<string | undefined> {
  const wasStopped = steps.some(({ item, to }) => item.kind === 'running' && to === undefined);
  if (!wasStopped) return undefined;
  try {
    await host.answers(signal?.aborted === true ? AbortSignal.timeout(AFTER_END_MS) : signal);
    return undefined;
  } catch (error) {
    return `the daemon before was started again, and does not answer: ${messageOf(error)}`;
  }
}
