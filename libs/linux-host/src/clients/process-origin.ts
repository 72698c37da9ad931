import { closeSync, openSync, readlinkSync, readSync } from 'node:fs';

export type ProcessOrigin =
  /** The process has the same mounts as this process, so no container separates them. */
  | { readonly kind: 'host' }
  /**
   * The process has its own mounts. `id`: the runtime's 64 hex digits; if there are none, `mounts:N` for mount namespace N.
   * A process with enough rights can leave namespace N, and so get another id.
   */
  | { readonly kind: 'container'; readonly id: string }
  /** The process has ended, or may not be inspected. */
  | { readonly kind: 'unknown' };

/** Far more than the kernel writes, even with all controllers. */
const CGROUP_BYTES = 16 * 1024;
/** Id that Docker, containerd, CRI-O and Podman use in names of control groups. The first match is the outermost container. */
const CONTAINER_ID = /(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])/;

const PF_EXITING = 4;

/** Locates a process, by default from `/proc`. Call it when the process connects, because the PID may be reused. */
export function processOrigin(pid: number, folder = `/proc/${pid}`): ProcessOrigin {
  // The kernel reports PID 0 for a process in an invisible PID namespace.
  if (pid <= 0) return { kind: 'unknown' };
  try {
    const mounts = readlinkSync(`${folder}/ns/mnt`);
    if (mounts === readlinkSync('/proc/self/ns/mnt')) return { kind: 'host' };
    const id = CONTAINER_ID.exec(readBeginning(`${folder}/cgroup`))?.[0];
    if (id !== undefined) return { kind: 'container', id };
    // An ending process has lost its control groups, so its container is unknown.
    if (isEnding(readBeginning(`${folder}/stat`))) return { kind: 'unknown' };
    return { kind: 'container', id: `mounts:${/\d+/.exec(mounts)?.[0] ?? ''}` };
  } catch {
    return { kind: 'unknown' };
  }
}

/** Reads the flags in `stat`, see proc(5): the seventh field after the name, which is in parentheses and may contain anything. */
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
