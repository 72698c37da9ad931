import { fileFingerprint, hashFile, replaceFile } from '@wins/trusted-files';
import { closeSync, constants, mkdirSync, openSync, readSync, statSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';

/** A file that changed so shortly before it was read may change again in the same tick of the file system's clock. */
const SETTLED_MS = 2000;
const RECORD_BYTES = 4096;
const FILE_NAME = 'program-digest.json';
// Whatever has the name of the record, opening it does not wait. Windows has none of these flags.
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * The SHA-1 of this program, for `app info`. An executable has 130 MB, and what hashes takes longer to load than all else that the
 * command does: the digest is remembered beside the state of the file that it was read from (device, file, size and times), and read
 * again once that is another. It is shown, and nothing is decided by it: a user who can write the program can have it say anything.
 *
 * @param folder - Where it is remembered. Default: the profile of the account, of which the system is asked, not the environment.
 */
export async function ownDigest(program: string, folder = profileFolder()): Promise<string> {
  const { mtimeMs, ctimeMs } = statSync(program);
  if (folder === undefined) return hash(program);
  const record = path.join(folder, FILE_NAME);
  const state = fileFingerprint(program, { followLinks: true });
  const known = recall(record, state);
  if (known !== undefined) return known;
  const isSettled = Date.now() - Math.max(mtimeMs, ctimeMs) > SETTLED_MS;
  const sha1 = await hash(program);
  if (isSettled && fileFingerprint(program, { followLinks: true }) === state)
    await remember(record, { state, sha1 });
  return sha1;
}

async function hash(program: string): Promise<string> {
  return (await hashFile(program, ['sha1'], { followLinks: true })).sha1;
}

/** Waits for the file: to ask the threads of Node for it takes them longer to begin than it takes. */
function recall(record: string, state: string): string | undefined {
  try {
    const known = JSON.parse(readRecord(record)) as { state?: unknown; sha1?: unknown } | null;
    const { sha1 } = known ?? {};
    const isWhole = typeof sha1 === 'string' && /^[0-9a-f]{40}$/.test(sha1);
    return isWhole && known?.state === state ? sha1 : undefined;
  } catch {
    return undefined;
  }
}

/** The beginning of the file; a record is no longer than that. */
function readRecord(record: string): string {
  const file = openSync(record, constants.O_RDONLY | O_NONBLOCK | O_NOFOLLOW);
  try {
    const bytes = Buffer.alloc(RECORD_BYTES);
    return bytes.toString('utf8', 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}

/** Where there is no place to write, the next call reads the program again. */
async function remember(record: string, known: { state: string; sha1: string }): Promise<void> {
  try {
    mkdirSync(path.dirname(record), { recursive: true, mode: 0o700 });
    await replaceFile(record, `${JSON.stringify(known)}\n`);
  } catch {
    // A profile that is read-only, or none at all.
  }
}

function profileFolder(): string | undefined {
  try {
    const { homedir } = userInfo();
    return process.platform === 'win32'
      ? path.join(homedir, 'AppData', 'Local', 'rancher', 'wins')
      : path.join(homedir, '.cache', 'rancher-wins');
  } catch {
    // A user whom the system does not know, as containers have them.
    return undefined;
  }
}
