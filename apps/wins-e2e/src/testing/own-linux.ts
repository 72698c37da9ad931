import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { accessSync, constants, readFileSync } from 'node:fs';
import type { Workspace } from './workspace.js';

/** User Mode Linux: a kernel that is a program (Debian package `user-mode-linux`). */
const KERNEL = '/usr/bin/linux.uml';

export function hasOwnLinux(): boolean {
  try {
    accessSync(KERNEL, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/**
 * Boots a Linux and runs a shell script in it as root. This Linux has cgroup v2 with all controllers, which containers and CI machines often lack.
 * It sees the files of this host, and may write only the workspace. `/run` is in memory, because `hostfs` does not support sockets.
 *
 * @returns The output of the script.
 */
export async function runInOwnLinux(workspace: Workspace, script: string): Promise<string> {
  const { folder } = workspace;
  const output = workspace.write('output', '');
  const main = workspace.script('main', script);
  const init = workspace.script(
    'init',
    `mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs tmpfs /run
mount -t hostfs -o '${folder}' hostfs '${folder}'
export PATH=/usr/sbin:/usr/bin:/sbin:/bin TMPDIR=/run
'${main}' > '${output}' 2>&1
sync
echo o > /proc/sysrq-trigger
sleep 60`,
  );
  const disk = ['root=/dev/root', 'rootfstype=hostfs', 'rootflags=/', 'ro', `uml_dir=${folder}`];
  const kernel = spawn(KERNEL, ['mem=1G', 'con=null', 'quiet', ...disk, `init=${init}`], {
    stdio: 'ignore',
    detached: true,
  });
  await once(kernel, 'exit');
  return readFileSync(output, 'utf8');
}
