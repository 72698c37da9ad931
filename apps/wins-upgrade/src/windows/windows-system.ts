import type { InstallPaths } from '@wins/installation';
import { connectPipe } from '@wins/pipe-transport';
import type { Effects, SystemParts } from '@wins/service-upgrade';
import { securedPipeClient, windowsNode } from '@wins/windows-host';
import { DAEMON_SERVICE, SERVICE_NAME } from '@wins/base';
export { fileHolders } from '@wins/windows-host';
import { askDaemons, type DialPipe } from '../daemon-client.js';
import type { NodeOfSystem } from '../node-of-system.js';
import { lockNode } from './lock-node.js';
import { WindowsServiceControl } from './windows-service-control.js';
import { createWindowsUpgradeHost } from './windows-upgrade-host.js';

export function upgradeParts(
  name: string = SERVICE_NAME,
  effects: Effects,
  defaultTarget?: string,
): SystemParts {
  const host = createWindowsUpgradeHost();
  return {
    host,
    service: new WindowsServiceControl(name, { effects, host }, defaultTarget),
    ...askDaemons(dialService(name)),
  };
}

export function nodeParts(paths: InstallPaths, effects: Effects): NodeOfSystem {
  const upgrade = upgradeParts(SERVICE_NAME, effects, paths.program);
  return {
    paths,
    dialOf: dialService(SERVICE_NAME),
    system: { platform: 'win32', ...windowsNode(DAEMON_SERVICE) },
    lockNode: () => lockNode(paths, { effects, host: upgrade.host }),
    upgrade,
  };
}

/** Accepts only the service or a privileged account as server, because any process could claim the pipe's name. */
function dialService(name: string): DialPipe {
  const security = securedPipeClient({ service: name });
  return (pipe) => () => connectPipe(pipe, { security });
}
