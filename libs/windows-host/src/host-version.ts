import { RegistryKey } from './registry/registry.js';
import type { RegistryValue } from './registry/registry-value.js';
import { WindowsError } from './windows-error.js';

/** The release of Windows, as `HKLM\SOFTWARE\Microsoft\Windows NT\CurrentVersion` words it. */
export interface WindowsVersion {
  readonly currentMajorVersionNumber: string;
  readonly currentMinorVersionNumber: string;
  readonly currentBuildNumber: string;
  /** The number of the update; `0` when the registry does not say. */
  readonly ubr: string;
  /** Such as `1809`; empty when the registry does not say. */
  readonly releaseId: string;
  /** Empty when the registry does not say. */
  readonly buildLabEx: string;
  readonly currentBuild: string;
}

const PATH = 'SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion';

/**
 * Reads the release of Windows. A number that the registry does not hold is `0`, a text is empty.
 *
 * @throws WindowsError `unavailable`, `accessDenied`, `notFound`.
 */
export function windowsVersion(): WindowsVersion {
  using key = RegistryKey.open(PATH);
  if (key === undefined) {
    throw new WindowsError('notFound', `read the release of Windows: there is no HKLM\\${PATH}`);
  }
  return versionFrom(key.values());
}

/** The release among the values of its key. */
export function versionFrom(values: ReadonlyMap<string, RegistryValue>): WindowsVersion {
  // Names of the registry have no case.
  const byName = new Map([...values].map(([name, value]) => [name.toLowerCase(), value]));
  const read = (name: string, absent: string): string => {
    const found = byName.get(name.toLowerCase());
    const shown = found?.type === 'text' || found?.type === 'number';
    return shown ? String(found.value) : absent;
  };
  return {
    currentMajorVersionNumber: read('CurrentMajorVersionNumber', '0'),
    currentMinorVersionNumber: read('CurrentMinorVersionNumber', '0'),
    currentBuildNumber: read('CurrentBuildNumber', ''),
    ubr: read('UBR', '0'),
    releaseId: read('ReleaseId', ''),
    buildLabEx: read('BuildLabEx', ''),
    currentBuild: read('CurrentBuild', ''),
  };
}
