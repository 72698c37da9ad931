import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Stats } from 'node:fs';
import { lstat, mkdir, realpath } from 'node:fs/promises';
import path from 'node:path';
import { type Effects, fileError, UpgradeError, type UpgradeHost } from '@wins/service-upgrade';
import { RUN_MARKER_VARIABLE, errnoOf, messageOf } from '@wins/wins-program';

const GROUP_OR_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;
const STICKY = 0o1000;

/**
 * Systems with POSIX sessions. Who lives in a session of its own, without the mark, and has no parent in the run, belongs to no
 * run: hence the starter must end at once.
 */
export function createPosixUpgradeHost(effects: Effects): UpgradeHost {
  const uid = process.getuid?.() ?? 0;
  return {
    platform: process.platform,
    arch: process.arch,
    ensurePrivateFolder: (folder) => ensurePrivateFolder(effects, folder, uid),
    requireTrustedFolder: (folder) => requireTrustedFolder(folder, uid),
    startApart,
  };
}

async function ensurePrivateFolder(effects: Effects, folder: string, uid: number): Promise<void> {
  try {
    const stats = await lstat(folder).catch(async (error: unknown) => {
      if (errnoOf(error) !== 'ENOENT') throw error;
      await effects.run('make folder', () => mkdir(folder, { mode: 0o700 }));
      return lstat(folder);
    });
    let found: string | undefined;
    if (!stats.isDirectory()) found = 'it is not a folder';
    else if (stats.uid !== uid) found = `it belongs to user ${stats.uid}`;
    else if ((stats.mode & GROUP_OR_OTHERS) !== 0) found = 'group or others have access';
    if (found === undefined) return;
    throw new UpgradeError(
      'refused',
      `cannot keep the state of an upgrade in ${folder}: ${found}; wanted a folder of mode 0700 of user ${uid}`,
    );
  } catch (error) {
    throw fileError('make the folder', folder, error);
  }
}

async function requireTrustedFolder(folder: string, uid: number): Promise<void> {
  let found: string | undefined;
  try {
    const real = await realpath(folder);
    for (let at = real; found === undefined; at = path.dirname(at)) {
      found = folderFault(await lstat(at), uid, at === real);
      if (found !== undefined && at !== real) found = `of ${at}, above it, ${found}`;
      if (at === path.dirname(at)) break;
    }
  } catch (error) {
    throw fileError('look at', folder, error);
  }
  if (found === undefined) return;
  throw new UpgradeError(
    'refused',
    `cannot replace a program in ${folder}: ${found}; whoever can write there decides what the service runs`,
  );
}

/** Says what lets others swap what is in a folder, or nothing. */
function folderFault(
  { uid, mode }: Pick<Stats, 'uid' | 'mode'>,
  ownUid: number,
  isLast: boolean,
): string | undefined {
  if (uid !== 0 && uid !== ownUid) return `user ${uid} is the owner`;
  // In a sticky folder others cannot touch what is ours, but they can put things beside it.
  if ((mode & WRITABLE_BY_OTHERS) === 0 || (!isLast && (mode & STICKY) !== 0)) return undefined;
  return `others can write to it (mode ${(mode & 0o7777).toString(8)})`;
}

async function startApart(file: string, args: readonly string[]): Promise<void> {
  const { [RUN_MARKER_VARIABLE]: _mark, ...env } = process.env;
  const child = spawn(file, [...args], { cwd: '/', env, detached: true, stdio: 'ignore' });
  try {
    await once(child, 'spawn');
  } catch (error) {
    throw new UpgradeError('programFailed', `cannot start ${file}: ${messageOf(error)}`, {
      cause: error,
    });
  }
  child.unref();
}
