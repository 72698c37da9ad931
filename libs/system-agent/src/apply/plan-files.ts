import {
  type FileTrust,
  fileSystemError,
  type PendingFile,
  openRegularFile,
  posixFileTrust,
  readWhole,
  replaceFile,
  TrustedFileError,
  writePendingFile,
} from '@wins/trusted-files';
import { errnoOf, quoteText } from '@wins/base';
import { chmodSync, constants, lstatSync } from 'node:fs';
import {
  type FileHandle,
  lstat,
  mkdir,
  open,
  readlink,
  realpath,
  rm,
  rmdir,
  unlink,
} from 'node:fs/promises';
import path from 'node:path';
import { AgentError } from '../agent-error.js';
import type { PlanFileRights, PlanFiles } from '../ports.js';

/** Linux has the same limit. */
const MAX_LINKS = 40;

/** Like the Go agent, does not flush to disk: flushing takes longer than all other work together. */
const NOT_FLUSHED = { isFlushed: false, isDurable: false };

/**
 * Only root can change owners: for other users, `uid` and `gid` must be -1 or their own.
 */
export function posixPlanFiles(): PlanFiles {
  const trust = posixFileTrust();
  return {
    ensureFolder: (folder, rights) =>
      translated('make the folder', folder, () => ensureFolder(folder, rights)),
    writeFile: (file, content, rights) =>
      translated('write', file, () => writeFile(file, content, rights)),
    writeAhead,
    remove: (file, directory) => translated('remove', file, () => remove(file, directory)),
    ensurePrivateFolder: (folder) =>
      translated('make the folder', folder, () => {
        closeToOthers(folder, trust);
        trust.ensurePrivateFolder(folder);
      }),
    writePrivateFile: (file, content) =>
      translated('write', file, () => replaceFile(file, content)),
  };
}

async function translated(tried: string, location: string, action: () => Promise<void> | void) {
  try {
    await action();
  } catch (error) {
    const cause = fileSystemError(error, tried, location);
    if (!(cause instanceof TrustedFileError)) throw error;
    throw new AgentError('fileFailed', cause.message, { cause });
  }
}

async function ensureFolder(folder: string, { mode, uid, gid }: PlanFileRights): Promise<void> {
  await mkdir(folder, { recursive: true, mode });
  // Use a handle: the owner of the parent folder could replace the folder by a link.
  const { O_RDONLY, O_DIRECTORY, O_NOFOLLOW } = constants;
  const handle = await open(await followLinks(folder), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  try {
    await handle.chown(uid, gid);
    await handle.chmod(mode);
  } finally {
    await handle.close();
  }
}

async function writeFile(file: string, content: Buffer, rights: PlanFileRights): Promise<void> {
  try {
    await writeAt(file, content, rights);
  } catch (error) {
    if (!(error instanceof TrustedFileError)) throw error;
    // The first try follows no link and creates no folder, because most files need neither.
    if (error.code === 'notTrusted') return writeAt(await followLinks(file), content, rights);
    if (error.code !== 'notFound') throw error;
    await mkdir(path.dirname(file), { recursive: true, mode: 0o755 });
    await writeAt(file, content, rights);
  }
}

async function writeAt(location: string, content: Buffer, rights: PlanFileRights): Promise<void> {
  const pending = await replacementOf(location, content, rights, async (handle) => {
    await handle.chown(rights.uid, rights.gid);
    await handle.chmod(rights.mode);
  });
  await pending?.place(NOT_FLUSHED);
}

/** Prepares a write in simple cases only: follows no link, creates no folder, and reports no failure. */
async function writeAhead(file: string, content: Buffer, rights: PlanFileRights) {
  try {
    const pending = await replacementOf(file, content, rights, () => Promise.resolve());
    if (pending === undefined) return undefined;
    // If the prepared file cannot be placed, start over: something may have changed.
    const anew = (): Promise<void> => writeFile(file, content, rights);
    return {
      place: () => translated('write', file, () => pending.place(NOT_FLUSHED).catch(anew)),
      discard: () => pending.discard(),
    };
  } catch {
    return undefined;
  }
}

/** If the file at `location` already has the content, calls `keep` and returns undefined. */
async function replacementOf(
  location: string,
  content: Buffer,
  { mode, uid, gid }: PlanFileRights,
  keep: (handle: FileHandle) => Promise<void>,
): Promise<PendingFile | undefined> {
  let owner = uid === -1 && gid === -1 ? undefined : { uid, gid };
  if (!isAbsent(location)) {
    const before = await openRegularFile(location);
    const { handle, stats } = before;
    try {
      if (stats.size === content.length) {
        if (content.equals(await readWhole(before, { maxBytes: content.length }))) {
          await keep(handle);
          return undefined;
        }
      }
    } finally {
      await handle.close();
    }
    owner = { uid: uid === -1 ? stats.uid : uid, gid: gid === -1 ? stats.gid : gid };
  }
  const rights = { mode, owner, isFlushed: NOT_FLUSHED.isFlushed };
  return writePendingFile(location, rights, (write) => write(content, 0));
}

/** A fast check, because most files are new. Returns false if the check fails; opening the file then reports the failure. */
function isAbsent(location: string): boolean {
  try {
    return lstatSync(location, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

/** Follows links at the end of the path. The file need not exist. */
async function followLinks(asked: string): Promise<string> {
  let at = asked;
  for (let links = 0; links <= MAX_LINKS; links += 1) {
    const folder = await realpath(path.dirname(at));
    const file = path.join(folder, path.basename(at));
    const stats = await lstat(file).catch(unlessAbsent);
    if (stats?.isSymbolicLink() !== true) return file;
    // Another user's link could lead anywhere. The system refuses most such links too.
    if (![0, process.geteuid?.()].includes(stats.uid)) throw badLink(asked, 'of another user');
    const target = await readlink(file);
    // Do not use `path.join`: only the system can resolve `..` after a link.
    at = path.isAbsolute(target) ? target : `${folder}/${target}`;
  }
  throw badLink(asked, `after ${MAX_LINKS} others`);
}

function unlessAbsent(error: unknown): undefined {
  if (errnoOf(error) !== 'ENOENT') throw error;
}

function badLink(file: string, which: string): AgentError {
  const wanted = 'a file, a folder, or a link of root';
  const message = `cannot make ${quoteText(file)}: found a symbolic link ${which}; wanted ${wanted}`;
  return new AgentError('fileFailed', message);
}

async function remove(file: string, directory: boolean): Promise<void> {
  if (directory) return rm(file, { recursive: true, force: true });
  try {
    await unlink(file).catch((error: unknown) => {
      // For a folder, `unlink` fails with EPERM in POSIX, with EISDIR on Linux.
      if (!['EPERM', 'EISDIR'].includes(errnoOf(error) ?? '')) throw error;
      return rmdir(file);
    });
  } catch (error) {
    if (!['ENOENT', 'ENOTDIR'].includes(errnoOf(error) ?? '')) throw error;
  }
}

/** Closes a folder that another agent left readable by all. If others can write it, `ensurePrivateFolder` will refuse it. */
function closeToOthers(folder: string, trust: FileTrust): void {
  const stats = lstatSync(folder, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true || stats.uid !== process.geteuid?.()) return;
  if ((stats.mode & 0o077) === 0) return;
  // Nobody else can replace a trusted folder by a link in the meantime.
  if (trust.distrustOfFolder(folder) === undefined) chmodSync(folder, 0o700);
}
