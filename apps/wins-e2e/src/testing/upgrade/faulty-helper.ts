import { fakeRelease } from './fake-release.js';
import type { Faults, UpgradeWorld } from './upgrade-world.js';

/** Returns a release whose `up` runs the driver with `faults`. A daemon that runs it need not pass a variable on. */
export function faultyHelper(
  { workspace, driver }: UpgradeWorld,
  version: string,
  faults: Faults = {},
): string {
  const trace = workspace.path('trace');
  const settings = workspace.write('settings.json', JSON.stringify({ faults, trace }));
  const upgrade = `UPGRADE_PROGRAM="$0" UPGRADE_DRIVER="$(cat "${settings}")" exec "${process.execPath}" "${driver}"`;
  return fakeRelease(version, undefined, upgrade);
}
