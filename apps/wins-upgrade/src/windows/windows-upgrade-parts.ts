import { connectPipe } from '@wins/pipe-transport';
import { securedPipeClient } from '@wins/windows-host';
import type { Effects, SystemParts } from '@wins/service-upgrade';
import { SERVICE_NAME } from '@wins/wins-program';
import { createDaemonProbe, type DialPipe } from '../daemon-client.js';
import { WindowsServiceControl } from './windows-service-control.js';
import { createWindowsUpgradeHost } from './windows-upgrade-host.js';

/** What Windows gives to an upgrade. */
export function windowsUpgradeParts(
  name: string = SERVICE_NAME,
  effects: Effects,
  defaultTarget?: string,
): SystemParts {
  const host = createWindowsUpgradeHost();
  return {
    host,
    service: new WindowsServiceControl(name, { effects, host }, defaultTarget),
    probe: createDaemonProbe(dialService(name)),
  };
}

/** Connects to the pipe of a service. Any process may have taken its name before: only the service, or an account with privileges, is asked. */
export function dialService(name: string): DialPipe {
  const security = securedPipeClient({ service: name });
  return (pipe) => () => connectPipe(pipe, { security });
}
