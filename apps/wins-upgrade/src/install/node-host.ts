import { InstallError, type NodeHost, type ItemStore } from '@wins/installation';
import {
  askVersion,
  ensurePrivateFolder,
  findPaths,
  parseServiceCommand,
  performUpgrade,
  requireTrustedFolder,
  settleUpgrade,
  UpgradeError,
  upgradePaths,
} from '@wins/service-upgrade';
import { messageOf } from '@wins/base';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { NodeLock } from './node-lock.js';
import type { NodeParts } from '../node-of-system.js';
import { proveService, type Proof } from './node-parts.js';

/** Returns a host that replaces the program as `wins up` does, so the caller must hold that command's lock. `more`: further proofs. */
export function nodeHost(parts: NodeParts, lock: NodeLock, more: readonly Proof[]): NodeHost {
  const { system, upgrade } = parts;
  const { service, host, runMs } = upgrade;
  return {
    ...system,
    stores: { ...system.stores, file: withUpgrades(parts, lock) },
    trust: host.trust,
    prove: ({ signal } = {}) => proveService(upgrade, more, signal),
    answers: ({ signal } = {}) => proveService(upgrade, [], signal),
    programOf: (command) => parseServiceCommand(command)?.imagePath,
    versionOf: async (program) => {
      try {
        // A program that others could have changed is not run with the privileges of this account.
        requireTrustedFolder(upgrade, path.dirname(program));
        return await askVersion(program, { timeoutMs: runMs });
      } catch (error) {
        if (error instanceof UpgradeError) return undefined;
        throw error;
      }
    },
    swap: {
      swap: async (program, file, sha256) => {
        const paths = await findPaths(service);
        requireTrustedFolder(upgrade, path.dirname(paths.target));
        await ensurePrivateFolder(upgrade, paths.folder);
        const request = { allowDowngrade: true, sha256 };
        const { outcome, reason } = await performUpgrade(upgrade, paths, file, request);
        if (outcome === 'upgraded' || outcome === 'nothing') return;
        throw new InstallError('stepFailed', `cannot replace ${program}: ${reason}`);
      },
      settle: async () => {
        try {
          await settleUpgrade(upgrade);
        } catch (error) {
          throw new InstallError('notUndone', messageOf(error), { cause: error });
        }
      },
    },
  };
}

function withUpgrades({ paths, system }: NodeParts, lock: NodeLock): ItemStore<'file'> {
  const { file } = system.stores;
  return {
    read: (item) => file.read(item),
    keep: (item, to) => file.keep?.(item, to) ?? Promise.resolve(),
    write: async (item, state, content) => {
      if (state === undefined && path.basename(item.path) === path.basename(paths.program)) {
        await lock.letGoOfProgram();
        await rm(upgradePaths(item.path).folder, { recursive: true, force: true });
      }
      await file.write(item, state, content);
    },
  };
}
