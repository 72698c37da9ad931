import type { InstallPlaces } from '@wins/installation';
import { UpgradeError, type Effects, type SystemParts } from '@wins/service-upgrade';
import type { NodeOfSystem } from './install/node-parts.js';

/** The parts that differ between systems. */
export interface System {
  /** Whether there can be an upgrade of this service, or of the default one. */
  hasService(name: string | undefined): boolean;
  /** The parts of an upgrade of this service, or of the default one. @throws UpgradeError `refused`. */
  upgradeParts(service: string | undefined, effects: Effects): Promise<SystemParts>;
  /** The parts of the node that this process runs on. @throws UpgradeError `refused`. */
  nodeParts(places: InstallPlaces, effects: Effects): Promise<NodeOfSystem>;
}

const windows = () => import('./windows/windows-system.js');
const refuse = (tried: string) => (): Promise<never> => {
  const found = `cannot ${tried} on ${process.platform}: this command works on Windows only`;
  return Promise.reject(new UpgradeError('refused', found));
};

/**
 * The system of this process. It can be replaced before anything is done: specs have one for Linux in programs of their own
 * (docs/adr/0048-ship-no-test-doubles.md). The platform is a constant of a bundle.
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
