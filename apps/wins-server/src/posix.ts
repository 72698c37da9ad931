import { quoteText, type PipeServerCheck, type ProcessHost } from '@wins/base';
import {
  canTellLinuxClients,
  freeMemoryTrimmer,
  keepDescriptors,
  linuxClients,
  LinuxError,
  posixProcessHost as processHostOf,
} from '@wins/linux-host';
import { connectPipe } from '@wins/pipe-transport';
import { ProcessError } from '@wins/process-manager';
import { posixFileTrust, type FileTrust } from '@wins/trusted-files';
import { lstat } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from './kernel/log/logger.js';
import type { DaemonSystem, OperatingSystem } from './kernel/operating-system.js';

/** Linux; on macOS only processes are supported. */
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
    keepDescriptors();
    const identify = linuxClients();
    const trimMemory = freeMemoryTrimmer();
    return { identify, ...(trimMemory && { trimMemory }) };
  } catch (error) {
    if (!(error instanceof LinuxError)) throw error;
    logger.warn({ problem: error.message }, 'cannot identify clients: all of them share one quota');
    return {};
  }
}

/** Connects to a socket only if root or this user owns it and nobody else can replace it. */
export function ownSocketCheck(trust: FileTrust): PipeServerCheck {
  return {
    open: async ({ address }, { signal }) => {
      const { uid } = await lstat(address);
      if (uid !== 0 && uid !== process.geteuid?.())
        throw untrusted(`user ${uid} owns its socket; wanted root or this user`);
      const distrust = trust.distrustOfFolder(path.dirname(address));
      if (distrust !== undefined)
        throw untrusted(`others can replace it: ${quoteText(distrust.path)}: ${distrust.found}`);
      return connectPipe(address, { signal });
    },
  };
}

function untrusted(found: string): Error {
  const error = new Error(`its server is not trusted: ${found}`);
  return Object.assign(error, { code: 'ERR_UNTRUSTED_PIPE_SERVER' });
}
