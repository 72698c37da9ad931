import type { InstallPlaces } from '@wins/node-install';
import type { Effects } from '@wins/service-upgrade';
import { windowsNode } from '@wins/windows-host';
import { DAEMON_SERVICE, SERVICE_NAME } from '@wins/wins-program';
import { dialService, windowsUpgradeParts } from '../../windows/windows-upgrade-parts.js';
import type { NodeOfSystem } from '../node-parts.js';
import { lockNode } from './lock-node.js';

/** What a Windows node gives to an installation. */
export function windowsParts(places: InstallPlaces, effects: Effects): NodeOfSystem {
  const upgrade = windowsUpgradeParts(SERVICE_NAME, effects, places.program);
  return {
    ...{ places, dialOf: dialService(SERVICE_NAME) },
    system: { platform: 'win32', ...windowsNode(DAEMON_SERVICE) },
    lockNode: () => lockNode(places, { effects, host: upgrade.host }),
    upgrade,
  };
}
