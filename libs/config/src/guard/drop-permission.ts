import { StateFile } from '@wins/files';
import { GUARDED_KEYS, type GuardedKey } from '@wins/wins-program';
import * as z from 'zod';
import { configTrust, type ConfigTrust } from '../load/config-file.js';
import { translateFileError } from '../file-errors.js';

const MAX_BYTES = 4096;
const EXPECTED = 'a folder in which the file can be replaced';

const permissionSchema = z.object({ sha256: z.string(), allowDrop: z.array(z.unknown()) });

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
  const permission = permissionBeside(config);
  try {
    if (keys.length === 0) await permission.remove();
    else await permission.write({ sha256, allowDrop: keys });
  } catch (error) {
    throw translateFileError(error, permission.path, EXPECTED);
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
  const found = await permissionBeside(config, trust)
    .read()
    .catch(() => undefined);
  if (found?.sha256 !== sha256) return [];
  return GUARDED_KEYS.filter((key) => found.allowDrop.includes(key));
}

function permissionBeside(config: string, trust?: ConfigTrust) {
  return new StateFile({
    ...{ path: `${config}.allow-drop`, maxBytes: MAX_BYTES, trust },
    parse: (json) => permissionSchema.parse(json),
    damaged: () => undefined,
  });
}
