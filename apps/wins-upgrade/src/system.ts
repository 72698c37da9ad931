import type { InstallPaths } from '@wins/installation';
import {
  UpgradeError,
  type Effects,
  type HoldersOf,
  type SystemParts,
} from '@wins/service-upgrade';
import type { NodeOfSystem } from './node-of-system.js';

export interface System {
  readonly holdersOf: HoldersOf;
  /** @throws UpgradeError `refused`. */
  upgradeParts(service: string | undefined, effects: Effects): Promise<SystemParts>;
  /** @throws UpgradeError `refused`. */
  nodeParts(paths: InstallPaths, effects: Effects): Promise<NodeOfSystem>;
}

const windows = () => import('./windows/windows-system.js');
const refuse = (tried: string) => (): Promise<never> => {
  const found = `cannot ${tried} on ${process.platform}: this command works on Windows only`;
  return Promise.reject(new UpgradeError('refused', found));
};

/** Specs replace it before first use (docs/adr/0048-ship-no-test-doubles.md). */
export const system: System =
  process.platform === 'win32'
    ? {
        holdersOf: async (file) => (await windows()).fileHolders(file),
        upgradeParts: async (...given) => (await windows()).upgradeParts(...given),
        nodeParts: async (...given) => (await windows()).nodeParts(...given),
      }
    : {
        holdersOf: () => Promise.resolve([]),
        upgradeParts: refuse('upgrade a service'),
        nodeParts: refuse('change a node'),
      };
