/**
 * Gives a name in a directory to exactly one of the processes that want it, and takes it from a dead
 * one, without a lock that a crash could leave behind.
 *
 * A claimant first serves a socket under a private name, then makes the wanted name a hard link to it.
 * `link` is atomic and never replaces, so whatever name is visible is served from its first instant
 * until its owner ends: a name that refuses connections is dead, and stays so.
 *
 * Replacing a dead file needs one more agreement, because two claimants may both have found it dead,
 * and the slower one must not replace the fresh socket of the faster one. The right to replace one
 * particular dead file is itself a name, derived from that file's identity, and is claimed in the
 * same way. Only its holder may replace that file, so between its last look and its `rename`
 * nothing can change; `rename` moves the right onto the name, which uses it up. If a holder dies, the
 * right is a dead file and the next claimant replaces that first.
 */
import { errnoOf } from '@wins/base';
import { createHash } from 'node:crypto';
import { link, lstat, rename, unlink } from 'node:fs/promises';
import { connect } from 'node:net';
import { dirname, join } from 'node:path';

/** How a claim ended: `claimed`, or what holds the name. */
export type Claim = 'claimed' | 'served' | 'notSocket';

/**
 * Makes `target` a second name of the served socket `own`, in the same file system.
 *
 * When the claim fails nothing has changed. Errors of the file system come out as Node made them.
 */
export async function claimName(own: string, target: string): Promise<Claim> {
  for (;;) {
    if (await linkIfFree(own, target)) return 'claimed';
    const found = await socketIdentity(target);
    if (found === 'notSocket') return 'notSocket';
    if (found === 'absent') continue;
    if (await isServed(target)) return 'served';
    const right = replacementRight(target, found);
    const claim = await claimName(own, right);
    // Another process has the right: it replaces the file now, or has seen that the file was replaced.
    if (claim !== 'claimed') return claim;
    if ((await socketIdentity(target)) === found) {
      await rename(right, target);
      return 'claimed';
    }
    await unlink(right);
  }
}

/**
 * Identifies the socket file at a path, for as long as the file exists: inode numbers are used again,
 * so the time of its making belongs to it; that time, unlike others, survives link and chmod.
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

/** Names the right to replace the dead file `identity` at `target`. */
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

/** Only a refusal proves that no one listens; a full backlog is a sign of life. */
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
