import type { ProcessHost } from '@wins/base';
import {
  canTellLinuxClients,
  freeMemoryTrimmer,
  linuxClients,
  LinuxError,
  posixProcessHost as processHostOf,
} from '@wins/linux-host';
import { ProcessError } from '@wins/process-manager';
import { posixFileTrust } from '@wins/trusted-files';
import type { Logger } from './kernel/log/logger.js';
import type { DaemonSystem, OperatingSystem } from './operating-system.js';
import { ownSocketCheck } from './own-socket-check.js';

/** Linux, and partly macOS, where only processes are supported. */
export const posix: OperatingSystem = {
  processHost: posixProcessHost,
  fileTrust: () => posixFileTrust(),
  adminServerCheck: () => ownSocketCheck(posixFileTrust()),
  daemonParts: (logger) => ({ processHost: posixProcessHost(), ...linuxParts(logger) }),
  pipeAccessFault: () => undefined,
  tellsClientsApart: () => process.platform === 'linux' && canTellLinuxClients(),
};

export function posixProcessHost(): ProcessHost {
  return processHostOf({
    failure: (code, message, details) => new ProcessError(code, message, details),
  });
}

function linuxParts(logger: Pick<Logger, 'warn'>): Pick<DaemonSystem, 'identify' | 'trimMemory'> {
  if (process.platform !== 'linux') return {};
  try {
    const identify = linuxClients();
    const trimMemory = freeMemoryTrimmer();
    return { identify, ...(trimMemory && { trimMemory }) };
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    logger.warn({ problem: error.message }, 'cannot identify clients: all of them share one quota');
    return {};
  }
}
