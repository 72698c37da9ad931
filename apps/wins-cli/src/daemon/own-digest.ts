import { fileFingerprint } from '@wins/trusted-files';
import { closeSync, constants, openSync, readSync } from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';

const RECORD_BYTES = 4096;
// Whatever has the name of the record, opening it does not wait. Windows has none of these flags.
const { O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants as Partial<typeof constants>;

/**
 * The SHA-1 of this program, for `app info`, if it is remembered. An executable has 130 MB, and what hashes takes longer to load than all else that the
 * command does: the digest is remembered beside the state of the file that it was read from (device, file, size and times), and read
 * again (`readDigest`) once that is another. It is shown, and nothing is decided by it: a user who can write the program can have it say anything.
 *
 * It waits for the file: to ask the threads of Node for it takes them longer to begin than it takes.
 */
export function recallDigest(program: string, record = digestRecord()): string | undefined {
  if (record === undefined) return undefined;
  try {
    const known = JSON.parse(readRecord(record)) as { state?: unknown; sha1?: unknown } | null;
    const { state, sha1 } = known ?? {};
    const isWhole = typeof sha1 === 'string' && /^[0-9a-f]{40}$/.test(sha1);
    return isWhole && state === fileFingerprint(program, { followLinks: true }) ? sha1 : undefined;
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

/** Where it is remembered: in the profile of the account, of which the system is asked, not the environment. */
export function digestRecord(): string | undefined {
  try {
    const { homedir } = userInfo();
    const folder =
      process.platform === 'win32'
        ? ['AppData', 'Local', 'rancher', 'wins']
        : ['.cache', 'rancher-wins'];
    return path.join(homedir, ...folder, 'program-digest.json');
  } catch {
    // A user whom the system does not know, as containers have them.
    return undefined;
  }
}
