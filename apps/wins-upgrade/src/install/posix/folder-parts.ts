import { FolderNode } from '@wins/node-install';
import {
  formatServiceCommand,
  parseServiceCommand,
  UpgradeError,
  type ServiceControl,
} from '@wins/service-upgrade';
import { SERVICE_NAME } from '@wins/wins-program';
import path from 'node:path';
import { createPosixUpgradeHost } from '../../posix/posix-upgrade-host.js';
import { lockByPipe } from '../../posix/supervised-service.js';
import { createDaemonProbe } from '../../daemon-client.js';
import type { NodeOfSystem } from '../node-parts.js';
import { detachedServices } from './detached-services.js';

/** The parts of a node in a folder, for development on Linux. */
export function folderParts(root: string): NodeOfSystem {
  if (!path.isAbsolute(root)) {
    const found = `found ${root}; wanted the absolute path of a folder`;
    throw new UpgradeError('refused', `cannot use WINS_NODE_ROOT: ${found}`);
  }
  const node = new FolderNode({ root, runner: detachedServices(path.join(root, 'run')) });
  return {
    places: node.places,
    system: node,
    upgrade: {
      service: folderService(node, path.join(root, 'node.lock')),
      host: createPosixUpgradeHost(),
      probe: createDaemonProbe(),
    },
  };
}

/** The service of the daemon, as `wins up` wants it, over the rooms of the node. */
function folderService(node: FolderNode, lock: string): ServiceControl {
  const { service: services, running } = node.rooms;
  const name = SERVICE_NAME;
  const item = { kind: 'service', name } as const;
  const runs = { kind: 'running', service: name } as const;
  return {
    name,
    defaultTarget: node.places.program,
    query: async () => {
      const found = await services.read(item);
      const command = found && parseServiceCommand(found.command, () => true);
      if (found === undefined || command === undefined) return undefined;
      const state = (await running.read(runs)) === undefined ? 'stopped' : 'running';
      return { command, state, isDisabled: found.startType === 'disabled' };
    },
    setCommand: async (command) => {
      const { startType = 'automatic' } = (await services.read(item)) ?? {};
      const state = { command: formatServiceCommand(command), startType };
      await services.write(item, state, undefined);
    },
    remove: () => services.write(item, undefined, undefined),
    start: () => running.write(runs, 'present', undefined),
    stop: () => running.write(runs, undefined, undefined),
    lock: () => lockByPipe(lock),
  };
}
