// A drive that is nearly full and one that cannot be written, for the specs of upgrades under Wine.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from './packages.mjs';

/** Why they cannot be made here; undefined when they can be. */
export const missingForDisks =
  process.platform === 'win32' || process.getuid?.() !== 0
    ? 'the right to mount, which root has on Linux'
    : undefined;

/**
 * Makes both, as drives of Wine.
 *
 * @param prefix - The folder of the prefix that gets them.
 * @param program - What is on the one that cannot be written.
 */
export function mountDisks(prefix, program) {
  unmountDisks();
  drive(prefix, 'w:', 'small-disk');
  const { folder, inside } = drive(prefix, 'v:', 'read-only-disk');
  copyFileSync(program, path.join(inside, 'wins.exe'));
  mount('-o', 'remount,ro', folder);
}

/** Takes them away, if they are there. */
export function unmountDisks() {
  for (const name of ['small-disk', 'read-only-disk'])
    spawnSync('/bin/umount', ['-l', path.join(cacheFolder, name)], { stdio: 'ignore' });
}

/** A file system of 150 MB, which is enough for one program. */
function drive(prefix, letter, name) {
  const folder = path.join(cacheFolder, name);
  const inside = path.join(folder, `wins-e2e-${name}`);
  mkdirSync(folder, { recursive: true });
  mount('-t', 'tmpfs', '-o', 'size=150m,mode=0755', 'tmpfs', folder);
  mkdirSync(inside);
  const link = path.join(prefix, 'dosdevices', letter);
  rmSync(link, { force: true });
  symlinkSync(folder, link);
  return { folder, inside };
}

function mount(...args) {
  const { status, stderr } = spawnSync('/bin/mount', args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`full and read-only disks must be mounted: ${stderr}`);
}
