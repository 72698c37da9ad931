import { createProcessManager } from '../process-manager.js';
import type { ProcessManagerOptions } from '../manager-options.js';
import { DetachedRuns, type DetachedRunsOptions } from './detached-runs.js';

/**
 * Creates a process manager, ends what dead programs left behind, and takes over the detached runs of the program before this one.
 * Only one program at a time may use a state directory.
 *
 * @throws ProcessError `invalidArgument`, `stateUnavailable`, `hostUnsupported`, `unknown`.
 */
export async function openDetachedRuns(
  options: Omit<ProcessManagerOptions, 'onEvent'> & Omit<DetachedRunsOptions, 'ownsManager'>,
): Promise<DetachedRuns> {
  const { onEvent, ...common } = options;
  const manager = createProcessManager(common);
  const runs = new DetachedRuns(manager, {
    ...common,
    onEvent,
    ownsManager: true,
  });
  try {
    await manager.recover();
    await runs.adopt();
  } catch (error) {
    await runs.close();
    throw error;
  }
  return runs;
}
