import { connectPipe } from '@wins/pipe-transport';
import { securedPipeClient } from '@wins/windows-host';
import { type Effects, type UpgradeContext } from '@wins/service-upgrade';
import { SERVICE_NAME } from '@wins/wins-program';
import { createDaemonProbe } from '../probe-daemon.js';
import { WindowsServiceControl } from './windows-service-control.js';
import { createWindowsUpgradeHost } from './windows-upgrade-host.js';

/** What Windows gives to an upgrade. */
export function windowsUpgradeParts(
  name: string = SERVICE_NAME,
  effects: Effects,
): Pick<UpgradeContext, 'service' | 'host' | 'probe'> {
  const security = securedPipeClient({ service: name });
  const host = createWindowsUpgradeHost();
  return {
    host,
    service: new WindowsServiceControl(name, { effects, host }),
    // Whoever is there first may have the name of a pipe: only the service, or who has privileges, is asked.
    probe: createDaemonProbe((pipe) => () => connectPipe(pipe, { security })),
  };
}
