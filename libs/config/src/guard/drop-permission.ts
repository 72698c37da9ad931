import { openTrustedFile, readWhole, replaceFile } from '@wins/trusted-files';
import { rm } from 'node:fs/promises';
import { configTrust, type ConfigTrust } from '../load/config-file.js';
import { translateFileError } from '../file-errors.js';
import { GUARDED_KEYS, type GuardedKey } from './dropped-keys.js';

const LIMITS = { maxBytes: 4096 };
const EXPECTED = 'a folder in which the file can be replaced';

/**
 * Permits one content of a config file to drop keys, in a file beside it (`FILE.allow-drop`). It goes with the content, through a mount and
 * across restarts, to whoever reads the config next. Only those who may replace the config can write it there. It replaces an earlier one;
 * without keys there is none afterwards.
 *
 * @param sha256 - Of the content, in lower-case hex.
 * @throws ConfigError `accessDenied`, `notFound` (no folder), `unknown`.
 */
export async function permitDrops(
  config: string,
  sha256: string,
  keys: readonly string[],
): Promise<void> {
  const file = permissionFile(config);
  try {
    if (keys.length === 0) await rm(file, { force: true });
    else await replaceFile(file, `${JSON.stringify({ sha256, allowDrop: keys })}\n`);
  } catch (error) {
    throw translateFileError(error, file, EXPECTED);
  }
}

/**
 * The keys that a content of a config file may drop: none without {@link permitDrops} for this content. A permission that others could have
 * written, or that cannot be read, is none.
 */
export async function permittedDrops(
  config: string,
  sha256: string | undefined,
  trust: ConfigTrust = configTrust(),
): Promise<readonly GuardedKey[]> {
  if (sha256 === undefined) return [];
  try {
    const file = await openTrustedFile(permissionFile(config), trust);
    try {
      const text = Buffer.from(await readWhole(file, LIMITS)).toString('utf8');
      const found = JSON.parse(text) as { sha256?: unknown; allowDrop?: unknown } | null;
      const { allowDrop } = found ?? {};
      if (found?.sha256 !== sha256 || !Array.isArray(allowDrop)) return [];
      return GUARDED_KEYS.filter((key) => allowDrop.includes(key));
    } finally {
      await file.handle.close();
    }
  } catch {
    return [];
  }
}

function permissionFile(config: string): string {
  return `${config}.allow-drop`;
}
