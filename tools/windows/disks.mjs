// Creates a nearly full drive and a read-only drive, for the specs of upgrades under Wine.
import { spawnSync } from 'node:child_process';
import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import { cacheFolder } from './packages.mjs';

export const missingForDisks =
  process.platform === 'win32' || process.getuid?.() !== 0
    ? 'the right to mount, which root has on Linux'
    : undefined;

/**
 * @param prefix - Folder of the Wine prefix.
 * @param program - Program to copy to the read-only drive.
 */
export function mountDisks(prefix, program) {
  unmountDisks();
  drive(prefix, 'w:', 'small-disk');
  const { folder, inside } = drive(prefix, 'v:', 'read-only-disk');
  copyFileSync(program, path.join(inside, 'wins.exe'));
  mount('-o', 'remount,ro', folder);
}

export function unmountDisks() {
  for (const name of ['small-disk', 'read-only-disk'])
    spawnSync('/bin/umount', ['-l', path.join(cacheFolder, name)], { stdio: 'ignore' });
}

/** Creates a file system of 150 MB, enough for one program. */
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
  if (status !== 0) throw new Error(`cannot mount the full and read-only disks: ${stderr}`);
}
