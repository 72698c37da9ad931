import { FolderNode } from '@wins/installation/testing';
import { parseServiceCommand, UpgradeError, type ServiceControl } from '@wins/service-upgrade';
import { SERVICE_NAME } from '@wins/base';
import path from 'node:path';
import { askDaemons } from '../daemon-client.js';
import { system, type System } from '../system.js';
import { detachedServices } from './detached-services.js';
import { formatServiceCommand } from './format-service-command.js';
import { createPosixUpgradeHost, programsOf } from './posix-upgrade-host.js';
import { lockByPipe, SupervisedService } from './supervised-service.js';

/**
 * For systems without a service manager. A service is a file, whose absolute path is in `--service` or `WINS_SERVICE`. Its supervisor listens
 * beside the file. A node is the folder `WINS_NODE_ROOT`.
 */
const STAND_INS: System = {
  holdersOf: programsOf,
  upgradeParts: (name, effects) => {
    const definition = definitionFile(name);
    if (definition === undefined || !path.isAbsolute(definition))
      throw new UpgradeError('refused', `there is no service: found ${definition ?? 'no name'}`);
    const service = new SupervisedService(definition, effects);
    return Promise.resolve({ service, host: createPosixUpgradeHost(), ...askDaemons() });
  },
  nodeParts: () => {
    const root = process.env['WINS_NODE_ROOT'];
    if (root === undefined || !path.isAbsolute(root))
      throw new UpgradeError('refused', 'there is no node: WINS_NODE_ROOT names none');
    const node = new FolderNode({ root, runner: detachedServices(path.join(root, 'run')) });
    const service = folderService(node, path.join(root, 'run', 'service.lock'));
    const upgrade = { service, host: createPosixUpgradeHost(), ...askDaemons() };
    const lockNode = () => lockByPipe(path.join(root, 'node.lock'));
    return Promise.resolve({ paths: node.paths, system: node, upgrade, lockNode });
  },
};
Object.assign(system, STAND_INS);

function definitionFile(service: string | undefined): string | undefined {
  return service ?? process.env['WINS_SERVICE'];
}

/** Adapts the service of a {@link FolderNode} for `wins up`. */
function folderService(node: FolderNode, lock: string): ServiceControl {
  const { service: services, running } = node.stores;
  const name = SERVICE_NAME;
  const item = { kind: 'service', name } as const;
  const runs = { kind: 'running', service: name } as const;
  return {
    name,
    defaultTarget: node.paths.program,
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
