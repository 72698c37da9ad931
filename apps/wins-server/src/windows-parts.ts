import { firewallRules, securedPipe, type PipeClient } from '@wins/windows-host';
import type { Socket } from 'node:net';
import { windowsClients } from './admission/windows-clients.js';
import type { SystemParts } from './system-parts.js';
import { windowsProcessHost } from './windows-process-host.js';

/** What Windows gives to the daemon. @throws WindowsError `invalid-argument` for an access list that is none. */
export function windowsParts(pipeAccess: string | undefined): SystemParts {
  const protection = securedPipe({ sddl: pipeAccess });
  const clients = new WeakMap<Socket, PipeClient>();
  return {
    pipeSecurity: {
      open: (path, events) =>
        protection.open(path, {
          accepted: (connection, client) => {
            if (client !== undefined) clients.set(connection, client);
            events.accepted(connection);
          },
          failed: (error) => events.failed(error),
        }),
    },
    identify: windowsClients((connection) => clients.get(connection)),
    processHost: windowsProcessHost(),
    portOpener: firewallRules(),
  };
}
