import { InstallError, type NodeHost } from '@wins/node-install';
import {
  ensurePrivateFolder,
  findPlaces,
  parseServiceCommand,
  performUpgrade,
  requireTrustedFolder,
  runProgram,
  settleUpgrade,
  UpgradeError,
} from '@wins/service-upgrade';
import { messageOf } from '@wins/wins-program';
import { statSync } from 'node:fs';
import path from 'node:path';
import { proveService, type NodeParts, type Proof } from './node-parts.js';

/**
 * A node as an installation needs it: its program is replaced as `wins up` does it, under the same lock.
 *
 * @param more - What the daemon must show beside that it serves.
 */
export function nodeHost({ system, upgrade }: NodeParts, more: readonly Proof[] = []): NodeHost {
  const { service, host, effects, runMs } = upgrade;
  return {
    ...system,
    trust: host.trust,
    lock: () => service.lock(),
    prove: (signal) => proveService(upgrade, more, signal),
    programOf: (command) =>
      parseServiceCommand(
        command,
        (file) => statSync(file, { throwIfNoEntry: false }) !== undefined,
      )?.imagePath,
    versionOf: async (program) => {
      try {
        // What others could have changed is not run, least of all as this account.
        requireTrustedFolder(upgrade, path.dirname(program));
        const { stdout } = await runProgram(effects, program, ['--version'], runMs);
        return /^rancher-wins version ([\x21-\x7e]{1,100})\s*$/.exec(stdout)?.[1];
      } catch (error) {
        if (error instanceof UpgradeError) return undefined;
        throw error;
      }
    },
    swap: {
      swap: async (program, file, sha256) => {
        const places = await findPlaces(service);
        requireTrustedFolder(upgrade, path.dirname(places.target));
        await ensurePrivateFolder(upgrade, places.folder);
        const wish = { allowDowngrade: true, sha256 };
        const { outcome, reason } = await performUpgrade(upgrade, places, file, wish);
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
