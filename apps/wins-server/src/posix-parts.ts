import { freeMemoryTrimmer, LinuxError } from '@wins/linux-host';
import { linuxClients } from './admission/linux-clients.js';
import type { Logger } from './log/logger.js';
import { posixProcessHost } from './posix-process-host.js';
import type { SystemParts } from './system-parts.js';

/** What Linux gives to the daemon, and macOS as far as it goes: there only processes are run. */
export function posixParts(logger: Logger): SystemParts {
  const processHost = posixProcessHost();
  if (process.platform !== 'linux') return { processHost };
  try {
    const identify = linuxClients();
    const trimMemory = freeMemoryTrimmer();
    return { processHost, identify, ...(trimMemory && { trimMemory }) };
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    logger.warn({ problem: error.message }, 'clients cannot be told apart');
    return { processHost };
  }
}
