import type { InstallPlaces } from '@wins/installation';
import { UpgradeError, type Effects, type SystemParts } from '@wins/service-upgrade';
import type { NodeOfSystem } from './install/node-parts.js';

/** The parts that differ between systems. */
export interface System {
  /** Returns true when this service, or the default one, can be upgraded. */
  hasService(name: string | undefined): boolean;
  /** Creates the dependencies for an upgrade of this service, or of the default one. @throws UpgradeError `refused`. */
  upgradeParts(service: string | undefined, effects: Effects): Promise<SystemParts>;
  /** Creates the dependencies for the node that this process runs on. @throws UpgradeError `refused`. */
  nodeParts(places: InstallPlaces, effects: Effects): Promise<NodeOfSystem>;
}

const windows = () => import('./windows/windows-system.js');
const refuse = (tried: string) => (): Promise<never> => {
  const found = `cannot ${tried} on ${process.platform}: this command works on Windows only`;
  return Promise.reject(new UpgradeError('refused', found));
};

/**
 * System of this process. Replaceable before first use: specs run their own programs with a variant for Linux
 * (docs/adr/0048-ship-no-test-doubles.md). The platform is a constant of each bundle.
 */
export const system: System =
  process.platform === 'win32'
    ? {
        hasService: () => true,
        upgradeParts: async (...given) => (await windows()).upgradeParts(...given),
        nodeParts: async (...given) => (await windows()).nodeParts(...given),
      }
    : {
        hasService: () => false,
        upgradeParts: refuse('upgrade a service'),
        nodeParts: refuse('change a node'),
      };
