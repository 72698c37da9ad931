import { droppedKeys, permittedDrops, type GuardedParts, type LoadedConfig } from '@wins/config';
import type { FileTrust } from '@wins/trusted-files';
import type { GuardedKey } from '@wins/wins-program';

/**
 * Guarded keys of an earlier config that the next one lacks, unless they may go: by name, or by a permission for its content.
 *
 * @param allowed - Guarded keys that may go. Default: none.
 */
export async function missingKeys(
  before: GuardedParts,
  { config, path, sha256 }: LoadedConfig,
  trust: FileTrust,
  allowed: readonly string[] = [],
): Promise<readonly GuardedKey[]> {
  const dropped = droppedKeys(before, config).filter((key) => !allowed.includes(key));
  if (dropped.length === 0) return [];
  const permitted = await permittedDrops(path, sha256, trust);
  return dropped.filter((key) => !permitted.includes(key));
}
