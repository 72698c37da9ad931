import type { Stats } from 'node:fs';
import type { Distrust } from './file-trust.js';

const WRITABLE_BY_OTHERS = 0o022;
const OPEN_TO_OTHERS = 0o077;
const STICKY = 0o1000;

export type PosixFacts = Pick<Stats, 'uid' | 'mode' | 'isDirectory' | 'isFile' | 'isSymbolicLink'>;

/**
 * Expected kind of a part of a path.
 *
 * - `above`: a parent folder. Others may write to it only if it is sticky, like `/tmp`: then only an entry's owner can replace the entry.
 * - `folder`: no one else may create anything in it, even if it is sticky.
 * - `privateFolder`: our own folder, which no one else can even read.
 * - `link`: a symbolic link that may be followed.
 */
export type StepKind = 'above' | 'folder' | 'privateFolder' | 'file' | 'link';

export type StepFault = Omit<Distrust, 'path'>;

/**
 * Judges one part of a path by owner and mode. Refuses write permission for any group, because its members may change. With a
 * POSIX access list, the group bits are the mask of the list, so they also cover named users. Ignores hard links, because a
 * second name gives nobody more rights.
 */
export function judgePosixStep(
  facts: PosixFacts,
  kind: StepKind,
  ownUid: number,
): StepFault | undefined {
  const mode = facts.mode & 0o7777;
  const shown = mode.toString(8).padStart(4, '0');
  const misfit = misfitOf(facts, kind);
  if (misfit !== undefined) return misfit;
  const isOwner = facts.uid === ownUid || (facts.uid === 0 && kind !== 'privateFolder');
  if (!isOwner) {
    const wanted = kind === 'privateFolder' ? `user ${ownUid}` : `user ${ownUid} or root`;
    const found = `it belongs to user ${facts.uid}; wanted ${wanted}`;
    return { rule: 'A7 owned by another user', found };
  }
  // The system ignores a link's mode: only its folder and owner matter.
  if (kind === 'link') return undefined;
  // A sticky folder is shared on purpose, so the remedy is not another mode.
  const isShared = facts.isDirectory() && (mode & STICKY) !== 0;
  if ((mode & WRITABLE_BY_OTHERS) !== 0 && !(kind === 'above' && isShared)) {
    return {
      rule: 'A7 writable by other users',
      found: `group or others can write to it (mode ${shown})`,
      remedy: isShared ? 'use a folder of your own below it' : 'remove that right with chmod go-w',
    };
  }
  if (kind === 'privateFolder' && (mode & OPEN_TO_OTHERS) !== 0) {
    return {
      rule: 'A7 open to other users',
      found: `group or others have access (mode ${shown})`,
      remedy: 'remove that right with chmod 0700',
    };
  }
  return undefined;
}

/** Limit of Linux. */
export const MAX_LINKS = 40;

export function loopAt(path: string): Distrust {
  const found = `links lead in a circle, or more than ${MAX_LINKS} follow each other`;
  return { rule: 'A7 symbolic link', path, found };
}

function misfitOf(facts: PosixFacts, kind: StepKind): StepFault | undefined {
  if (kind === 'link') return undefined;
  if (facts.isSymbolicLink()) return { rule: 'A7 symbolic link', found: 'it is a symbolic link' };
  if (kind === 'file') {
    if (facts.isFile()) return undefined;
    const found = facts.isDirectory() ? 'it is a folder' : 'it is not a regular file';
    return { rule: 'A7 not a regular file', found };
  }
  if (facts.isDirectory()) return undefined;
  const rule = kind === 'above' ? 'A7 not a regular file' : 'A7 not a directory';
  return { rule, found: 'it is not a folder' };
}
