import { freeMemoryTrimmer, LinuxError } from '@wins/linux-host';
import { linuxClients } from './admission/linux-clients.js';
import type { Logger } from './log/logger.js';
import type { SystemParts } from './system-parts.js';

/** What Linux gives to the daemon. */
export function linuxParts(logger: Logger): SystemParts {
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
