import type { HostVersion } from '@wins/base';

export interface LinuxSystem {
  /** Content of `/etc/os-release`; empty if missing. */
  readonly osRelease: string;
  /** `uname -r`: `6.1.0-18-amd64`. */
  readonly kernelRelease: string;
  /** `uname -v`: `#1 SMP PREEMPT_DYNAMIC Debian 6.1.76-1`. */
  readonly kernelVersion: string;
}

/**
 * Fills the fields of a Windows version. Major, minor and build are the kernel's three numbers. `releaseId` is the
 * distribution's version (`12`). `buildLabEx` is the distribution and the full kernel name.
 */
export function linuxVersion(system: LinuxSystem): HostVersion {
  const { osRelease, kernelRelease, kernelVersion } = system;
  const [, major = '', minor = '', build = '0'] =
    /^(\d+)\.(\d+)(?:\.(\d+))?/.exec(kernelRelease) ?? [];
  const fields = parseOsRelease(osRelease);
  return {
    currentMajorVersionNumber: major,
    currentMinorVersionNumber: minor,
    currentBuildNumber: build,
    ubr: '0',
    releaseId: fields.get('VERSION_ID') ?? '',
    buildLabEx: [fields.get('ID') ?? 'linux', kernelRelease, kernelVersion].join(' ').trim(),
    currentBuild: build,
  };
}

export function parseOsRelease(text: string): ReadonlyMap<string, string> {
  const fields = new Map<string, string>();
  for (const line of text.split('\n')) {
    const [, name, value] = /^([A-Z][A-Z0-9_]*)=(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined || value === undefined) continue;
    const [, quoted = value] = /^"(.*)"$|^'.*'$/.exec(value) ?? [];
    fields.set(name, quoted.replace(/^'(.*)'$/, '$1').replace(/\\(["$`\\])/g, '$1'));
  }
  return fields;
}
