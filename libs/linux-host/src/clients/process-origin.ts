import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';

/** Where a process lives, compared with this one. */
export type ProcessOrigin =
  /** It sees the same mounts as this process: no container lies between the two. */
  | { readonly kind: 'host' }
  /** It has mounts of its own. */
  | {
      readonly kind: 'container';
      /** The id that the container runtime gave it, 64 hexadecimal digits; else `mounts:N`, which a process may change that may make mounts. */
      readonly id: string;
    }
  /** It has ended, or may not be looked at. */
  | { readonly kind: 'unknown' };

/** Far more than a kernel with every controller writes. */
const CGROUP_BYTES = 16 * 1024;
/** Docker, containerd, CRI-O and Podman all name a control group by it; the outermost is the container of this host. */
const CONTAINER_ID = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/;

/** A flag of a process in the kernel. */
const PF_EXITING = 4;

/**
 * Where a process lives. Ask when it connects: the number of a process that has ended may come back as another's.
 *
 * @param folder - Where the process is described. Default: /proc/<pid>.
 */
export function processOrigin(pid: number, folder = `/proc/${pid}`): ProcessOrigin {
  // Of a process that cannot be seen from here the kernel says 0.
  if (pid <= 0) return { kind: 'unknown' };
  try {
    const mounts = readlinkSync(`${folder}/ns/mnt`);
    if (mounts === readlinkSync('/proc/self/ns/mnt')) return { kind: 'host' };
    const id = CONTAINER_ID.exec(readBeginning(`${folder}/cgroup`))?.[0];
    if (id !== undefined) return { kind: 'container', id };
    // A process that ends has lost its control groups already.
    if (isEnding(readBeginning(`${folder}/stat`))) return { kind: 'unknown' };
    return { kind: 'container', id: `mounts:${/\d+/.exec(mounts)?.[0] ?? ''}` };
  } catch {
    return { kind: 'unknown' };
  }
}

/** proc(5), `stat`: the name in parentheses may hold anything; the seventh field after it are the flags. */
function isEnding(stat: string): boolean {
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[6]) & PF_EXITING) !== 0;
}

function readBeginning(file: string): string {
  const fd = openSync(file, 'r');
  try {
    const bytes = Buffer.alloc(CGROUP_BYTES);
    return bytes.toString('latin1', 0, readSync(fd, bytes));
  } finally {
    closeSync(fd);
  }
}
