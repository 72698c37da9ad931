// A drive that is nearly full and one that cannot be written, for upgrade-files.windows-spec.ts. Making them takes the right to mount.
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import './build-releases.mjs';

const root = path.resolve(import.meta.dirname, '../../../..');
const cache = path.join(root, 'node_modules/.cache/wins-windows');
const program = path.join(root, 'dist/upgrade/v1.0.0.exe');
const mount = (...args) => {
  const { status, stderr } = spawnSync('/bin/mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`full and read-only disks must be mounted: ${stderr}`);
};

/** A file system of 150 MB, which is enough for one program, as a drive of Wine. */
function drive(letter, name) {
  const folder = path.join(cache, name);
  const inside = path.join(folder, `wins-e2e-${name}`);
  mkdirSync(folder, { recursive: true });
  // That of an earlier run.
  spawnSync('/bin/umount', ['-l', folder], { stdio: 'ignore' });
  mount('-t', 'tmpfs', '-o', 'size=150m,mode=0755', 'tmpfs', folder);
  mkdirSync(inside);
  const link = path.join(cache, 'prefix/dosdevices', letter);
  rmSync(link, { force: true });
  symlinkSync(folder, link);
  return { folder, inside };
}

if (process.platform === 'win32' || (process.getuid() !== 0 && process.env.CI === undefined)) {
  console.error('SKIPPED: upgrades on full and read-only disks, since only root may mount');
} else if (existsSync(path.join(cache, 'prefix'))) {
  drive('w:', 'small-disk');
  const { folder, inside } = drive('v:', 'read-only-disk');
  copyFileSync(program, path.join(inside, 'wins.exe'));
  mount('-o', 'remount,ro', folder);
}
