import { DefaultProcessManager } from './default-process-manager.js';
import { completeOptions, type ProcessManagerOptions } from './manager-options.js';
import type { ProcessManager } from './process-manager.js';

/**
 * Creates a manager and makes sure of its state directory; nothing else happens yet.
 *
 * @throws ProcessError `invalidArgument`, `stateUnavailable`, `hostUnsupported`.
 */
export function createProcessManager(options: ProcessManagerOptions): ProcessManager {
  return new DefaultProcessManager(completeOptions(options));
}
