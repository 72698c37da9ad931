import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';

/**
 * Runs `action` while `folder` is a file system of 64 KiB with at most `maxFiles` files and folders. Resolves with false, without
 * running `action`, when this process may not mount.
 */
export async function onSmallDisk(
  folder: string,
  maxFiles: number,
  action: () => Promise<void>,
): Promise<boolean> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const options = `size=64k,mode=700,nr_inodes=${maxFiles}`;
  try {
    execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', options, 'tmpfs', folder], { stdio: 'pipe' });
  } catch {
    process.stderr.write('SKIPPED: a full disk, for which a file system must be mounted\n');
    return false;
  }
  try {
    await action();
  } finally {
    execFileSync('/bin/umount', [folder]);
  }
  return true;
}
