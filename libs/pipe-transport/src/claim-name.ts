/**
 * Gives a name in a directory to exactly one of several competing processes, and takes it from a dead process. Needs no
 * lock that a crash could leave behind.
 *
 * A claimant first serves a socket under a private name, then creates a hard link to it under the wanted name. `link`
 * is atomic and never replaces a file, so a visible name is served until its owner ends. A name that refuses
 * connections is therefore dead, and stays dead.
 *
 * Two claimants may both find a file dead. The slower one must not replace the fresh socket of the faster one.
 * Therefore a claimant first acquires the right to replace this dead file. The right is another link to the claimant's
 * socket, under a name that is derived from the identity of the dead file. This name is claimed in the same way. Only
 * the holder of the right replaces the dead file, so nothing changes between the holder's last check and its `rename`.
 *
 * `rename` gives the link the wanted name. Afterwards the right no longer exists. If the holder dies before the rename,
 * the link is a dead file too, and the next claimant replaces that file first.
 */
import { errnoOf } from '@wins/base';
import { createHash } from 'node:crypto';
import { link, lstat, rename, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';

/** `served`: another socket has the name; `notSocket`: a file that is no socket has it. */
export type Claim = 'claimed' | 'served' | 'notSocket';

/** Makes `target` a second name of the served socket `own`, in the same file system. A failed claim changes nothing. */
export async function claimName(own: string, target: string): Promise<Claim> {
  for (;;) {
    if (await linkIfFree(own, target)) return 'claimed';
    const found = await socketIdentity(target);
    if (found === 'notSocket') return 'notSocket';
    if (found === 'absent') continue;
    if (await isServed(target)) return 'served';
    const right = replacementRight(target, found);
    const claim = await claimName(own, right);
    // Another process is replacing the file, or has found it already replaced.
    if (claim !== 'claimed') return claim;
    if ((await socketIdentity(target)) === found) {
      await rename(right, target);
      return 'claimed';
    }
    await unlink(right);
  }
}

/**
 * Identifies a socket file while the file exists. Inode numbers are reused, so the identity includes the modification
 * time, which link and chmod do not change.
 */
export async function socketIdentity(path: string): Promise<string> {
  try {
    const found = await lstat(path, { bigint: true });
    return found.isSocket() ? `${found.dev}:${found.ino}:${found.mtimeNs}` : 'notSocket';
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return 'absent';
    throw error;
  }
}

export function replacementRight(target: string, identity: string): string {
  const digest = createHash('sha256').update(identity).digest('base64url');
  return join(dirname(target), `.${digest.slice(0, 12)}`);
}

async function linkIfFree(own: string, target: string): Promise<boolean> {
  try {
    await link(own, target);
    return true;
  } catch (error) {
    if (errnoOf(error) === 'EEXIST') return false;
    throw error;
  }
}

/** A refused connection or a missing file proves that no process listens; a full backlog proves that one does. */
async function isServed(path: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = connect({ path });
    probe.on('connect', () => {
      probe.destroy();
      resolve(true);
    });
    probe.on('error', (error) => {
      const code = errnoOf(error);
      if (code === 'ECONNREFUSED' || code === 'ENOENT') resolve(false);
      else if (code === 'EAGAIN') resolve(true);
      else reject(error);
    });
  });
}
