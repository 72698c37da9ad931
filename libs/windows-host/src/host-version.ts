import type { HostVersion } from '@wins/base';
import { RegistryKey, type RegistryValue } from './registry/registry.js';
import { WindowsError } from './windows-error.js';

const PATH = 'SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion';

/**
 * A number missing from the registry is `0`; a missing text is empty.
 *
 * @throws WindowsError `unavailable`, `accessDenied`, `notFound`.
 */
export function windowsVersion(): HostVersion {
  using key = RegistryKey.open(PATH);
  const tried = 'cannot read the release of Windows';
  if (key === undefined) throw new WindowsError('notFound', `${tried}: there is no HKLM\\${PATH}`);
  return versionFrom(key.values());
}

export function versionFrom(values: ReadonlyMap<string, RegistryValue>): HostVersion {
  // Registry names are case-insensitive.
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
