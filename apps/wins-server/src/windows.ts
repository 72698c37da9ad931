import { type PipeServerCheck, SERVICE_NAME, type ProcessHost } from '@wins/base';
import { ProcessError } from '@wins/process-manager';
import {
  createPrivateFile,
  firewallOffReason,
  firewallRules,
  jobObjectProcessHost,
  pipeAccessFault,
  securedPipe,
  securedPipeClient,
  sessionStart,
  windowsFileTrust,
  windowsKeepers,
  windowsPlanFiles,
  windowsClients,
  unlessFails,
  WindowsError,
} from '@wins/windows-host';
import { distrusted, TrustedFileError } from '@wins/trusted-files';
import path from 'node:path';
import type { DaemonSystem, OperatingSystem } from './kernel/operating-system.js';

export const windows: OperatingSystem = {
  processHost,
  fileTrust: () => windowsFileTrust(),
  daemonParts: (_logger, pipeAccess) => ({
    processHost: processHost(),
    keepers: windowsKeepers(),
    sessionStart: (session) => unlessFails(() => sessionStart(session)),
    portOpener: { ...firewallRules(), whyNotNeeded: () => firewallOffReason() },
    planFiles: (failure, onWarning) => windowsPlanFiles({ failure, onWarning }),
    ...pipeParts(pipeAccess),
  }),
  pipeAccessFault,
  tellsClientsApart: () => true,
  createPrivateFile: createFileInOwnFolder,
  pipeServerCheck: serverCheck,
  adminServerCheck: serverCheck,
};

function serverCheck(): PipeServerCheck {
  return securedPipeClient({ service: SERVICE_NAME });
}

/** Creates a file, but only in a folder that others cannot change. Elsewhere they could replace the file before it is opened. */
function createFileInOwnFolder(file: string): void {
  const whole = path.win32.resolve(file);
  const distrust = windowsFileTrust().distrustOfFolder(path.win32.dirname(whole));
  if (distrust !== undefined) throw distrusted('make a private file in', file, distrust);
  try {
    createPrivateFile(whole);
  } catch (error) {
    if (!(error instanceof WindowsError) || error.code !== 'alreadyExists') throw error;
    const details = { cause: error };
    throw new TrustedFileError('alreadyExists', 'make', file, 'something has this name', details);
  }
}

function processHost(): ProcessHost {
  return jobObjectProcessHost({
    failure: (code, message, details) => new ProcessError(code, message, details),
  });
}

function pipeParts(
  pipeAccess: string | undefined,
): Pick<DaemonSystem, 'pipeSecurity' | 'identify' | 'adminPipe'> {
  const pipeSecurity = securedPipe({ sddl: pipeAccess });
  const security = securedPipe();
  return {
    pipeSecurity,
    identify: windowsClients(pipeSecurity),
    adminPipe: { security, identify: windowsClients(security, true) },
  };
}
