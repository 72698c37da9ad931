import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import os from 'node:os';
import { it } from 'node:test';
import { windowsVersion } from './host-version.js';
import { systemPath } from './win32/calls/system-library.js';

it('tells the release that the registry and the system tell', () => {
  const version = windowsVersion();
  const release = [
    version.currentMajorVersionNumber,
    version.currentMinorVersionNumber,
    version.currentBuildNumber,
  ];
  assert.equal(release.join('.'), os.release());

  const key = 'HKLM\\SOFTWARE\\Microsoft\\Windows NT\\CurrentVersion';
  const told = execFileSync(systemPath('reg.exe'), ['query', key], { encoding: 'utf8' });
  assert.match(told, new RegExp(`CurrentBuild\\s+REG_SZ\\s+${version.currentBuild}\\s`));
});
