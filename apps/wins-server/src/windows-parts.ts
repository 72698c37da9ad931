import { firewallRules, securedPipe } from '@wins/windows-host';
import type { SystemParts } from './system-parts.js';
import { windowsProcessHost } from './windows-process-host.js';

/** What Windows gives to the daemon. @throws WindowsError `invalid-argument` for an access list that is none. */
export function windowsParts(pipeAccess: string | undefined): SystemParts {
  return {
    pipeSecurity: securedPipe({ sddl: pipeAccess }),
    processHost: windowsProcessHost(),
    portOpener: firewallRules(),
  };
}
