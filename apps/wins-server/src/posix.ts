import { freeMemoryTrimmer, LinuxError } from '@wins/linux-host';
import { createNodeProcessHost } from '@wins/process-manager';
import { canTellLinuxClients, linuxClients } from './admission/linux-clients.js';
import type { Logger } from './log/logger.js';
import type { DaemonSystem, OperatingSystem } from './operating-system.js';

/** Linux; elsewhere clients cannot be told apart. */
export const posix: OperatingSystem = {
  processHost: createNodeProcessHost,
  daemonParts: (logger) => ({ processHost: createNodeProcessHost(), ...linuxParts(logger) }),
  tellsClientsApart: () => process.platform === 'linux' && canTellLinuxClients(),
};

function linuxParts(logger: Logger): Pick<DaemonSystem, 'identify' | 'trimMemory'> {
  if (process.platform !== 'linux') return {};
  try {
    const identify = linuxClients();
    const trimMemory = freeMemoryTrimmer();
    return { identify, ...(trimMemory && { trimMemory }) };
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    logger.warn({ problem: error.message }, 'clients cannot be told apart');
    return {};
  }
}
