import { ProcessError, type ProcessHost } from '@wins/process-manager';
import {
  firewallRules,
  jobObjectProcessHost,
  securedPipe,
  securedPipeClient,
  windowsFileTrust,
  windowsPlanFiles,
  type PipeClient,
} from '@wins/windows-host';
import { RUN_MARKER_VARIABLE, SERVICE_NAME } from '@wins/wins-program';
import type { Socket } from 'node:net';
import { windowsClients } from './admission/windows-clients.js';
import type { DaemonSystem, OperatingSystem } from './operating-system.js';

/** Windows. */
export const windows: OperatingSystem = {
  processHost,
  fileTrust: () => windowsFileTrust(),
  daemonParts: (_logger, pipeAccess) => ({
    processHost: processHost(),
    portOpener: firewallRules(),
    planFiles: (failure) => windowsPlanFiles({ failure }),
    ...pipeParts(pipeAccess),
  }),
  tellsClientsApart: () => true,
  pipeServerCheck: () => securedPipeClient({ service: SERVICE_NAME }),
};

/**
 * A host of job objects that fails with the errors of the process manager, and marks what it runs as other systems do: by the
 * mark the helper of an upgrade knows that it has to leave its job.
 */
function processHost(): ProcessHost {
  const host = jobObjectProcessHost({
    failure: (code, message, details) => new ProcessError(code, message, details),
  });
  return {
    ...host,
    start: ({ mark, ...command }) =>
      host.start({ ...command, env: { ...command.env, [RUN_MARKER_VARIABLE]: mark } }),
  };
}

function pipeParts(
  pipeAccess: string | undefined,
): Pick<DaemonSystem, 'pipeSecurity' | 'identify'> {
  const protection = securedPipe({ sddl: pipeAccess });
  const clients = new WeakMap<Socket, PipeClient>();
  return {
    pipeSecurity: {
      open: (address, events) =>
        protection.open(address, {
          accepted: (connection, client) => {
            if (client !== undefined) clients.set(connection, client);
            events.accepted(connection);
          },
          failed: (error) => events.failed(error),
        }),
    },
    identify: windowsClients((connection) => clients.get(connection)),
  };
}
