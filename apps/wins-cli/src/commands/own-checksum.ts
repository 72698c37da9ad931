import { fileFingerprint, hashFile } from '@wins/trusted-files';
import { lstatSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const WRITABLE_BY_OTHERS = 0o022;

/**
 * SHA-1 of this program. To hash an executable takes longer than the rest of a call, so the digest is kept in the cache folder of the user, for as long as
 * the file is the same. A program can claim any digest of itself, so nothing may depend on it, and the kept one needs no protection from its own user.
 */
export async function ownChecksum(): Promise<string> {
  const program = process.argv[1] ?? process.execPath;
  const fingerprint = fileFingerprint(program, { followLinks: true });
  const cache = cacheFile(program, process.env);
  const kept = readKept(cache, fingerprint);
  if (kept !== undefined) return kept;
  const { sha1 } = await hashFile(program, ['sha1'], { followLinks: true });
  if (fileFingerprint(program, { followLinks: true }) === fingerprint)
    keep(cache, `${fingerprint} ${sha1}\n`);
  return sha1;
}

/** Undefined if the environment names no folder, or one in which another user may write: `sudo` may keep the caller's HOME. */
function cacheFile(program: string, environment: NodeJS.ProcessEnv): string | undefined {
  const { LOCALAPPDATA, XDG_CACHE_HOME, HOME } = environment;
  const base = process.platform === 'win32' ? LOCALAPPDATA : XDG_CACHE_HOME || HOME;
  if (!base || !path.isAbsolute(base) || !isPrivate(base)) return undefined;
  const folder = base === HOME ? path.join(base, '.cache') : base;
  return path.join(folder, 'rancher-wins', `${path.basename(program)}.sha1`);
}

/** A link is not private. On Windows the profile of a user is private by default. */
function isPrivate(folder: string): boolean {
  if (process.platform === 'win32') return true;
  try {
    const stats = lstatSync(folder);
    const isOwn = stats.isDirectory() && stats.uid === process.getuid?.();
    return isOwn && (stats.mode & WRITABLE_BY_OTHERS) === 0;
  } catch {
    return false;
  }
}

function readKept(file: string | undefined, fingerprint: string): string | undefined {
  if (file === undefined) return undefined;
  try {
    const [known, sha1 = ''] = readFileSync(file, 'latin1').trimEnd().split(' ');
    return known === fingerprint && /^[0-9a-f]{40}$/.test(sha1) ? sha1 : undefined;
  } catch {
    return undefined;
  }
}

/** Does nothing if the folder is read-only or full: the next call hashes again. */
function keep(file: string | undefined, text: string): void {
  if (file === undefined) return;
  try {
    mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
    if (!isPrivate(path.dirname(file))) return;
    writeFileSync(file, text, { mode: 0o600 });
  } catch {
    // The digest was printed all the same.
  }
}
