import { replaceFile } from '@wins/trusted-files';
import type { Stats } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { readConfigFile } from '../load/config-file.js';
import { type ConfigChanges, editConfig } from './edit-config.js';
import { translateFileError } from '../file-errors.js';

const EXPECTED = 'a folder in which the file can be replaced';

/**
 * Changes keys of a configuration file and leaves everything else in it as it is, its encoding and byte order mark too.
 *
 * Atomic: a reader, also after a crash, sees the old file or the new one. The mode and (as root) the owner
 * are kept; a new file gets mode 0600. Of a symbolic link the target is replaced. Two savers at once: the
 * last one wins. What would not load afterwards is not written.
 * @throws ConfigError as for loading; `invalid` when the file or a change is not valid; `accessDenied`, `notFound` (no folder),
 *   `unknown` from writing. The old file is then untouched.
 */
export async function saveConfig(path: string, changes: ConfigChanges): Promise<void> {
  const read = await readConfigFile(path);
  const before = read?.bytes ?? new Uint8Array();
  const after = editConfig(before, changes, { fileName: path });
  if (after.equals(before)) return;
  try {
    const target = read === undefined ? path : await realpath(path);
    await replaceFile(target, after, read && rightsOf(read.stats));
  } catch (error) {
    throw translateFileError(error, path, EXPECTED);
  }
}

/** Those of the old file. Only root can give a file away. */
function rightsOf({ uid, gid, mode }: Stats) {
  const owner = process.geteuid?.() === 0 ? { uid, gid } : undefined;
  return { mode: mode & 0o777, owner };
}
