import { realpath } from 'node:fs/promises';
import { readConfigFile } from '../load/config-file.js';
import { type ConfigChanges, editConfig } from './edit-config.js';
import { translateNodeError } from '../node-errors.js';
import { replaceFile } from './replace-file.js';

const EXPECTED = 'a folder in which the file can be replaced';

/**
 * Changes keys of a configuration file and leaves everything else in it as it is.
 *
 * Atomic: whoever reads meanwhile, or after a crash, sees the old file or the new one. The mode and (as root) the owner
 * are kept; a new file gets mode 0600. Of a symbolic link the target is replaced. Two savers at once: the
 * last one wins. What would not load afterwards is not written.
 * @throws ConfigError as for loading; `invalid` when the file or a change is not valid; `accessDenied`, `notFound` (no folder),
 *   `unknown` from writing. The old file is then untouched.
 */
export async function saveConfig(path: string, changes: ConfigChanges): Promise<void> {
  const read = await readConfigFile(path);
  const before = read?.bytes ?? new Uint8Array();
  const after = Buffer.from(editConfig(before, changes, { fileName: path }));
  if (after.equals(before)) return;
  try {
    await replaceFile(read === undefined ? path : await realpath(path), after, read?.stats);
  } catch (error) {
    throw translateNodeError(error, path, EXPECTED);
  }
}
