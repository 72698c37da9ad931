import type { Stats } from 'node:fs';
import { lstat, readdir, unlink } from 'node:fs/promises';
import path from 'node:path';

/**
 * Removes temporary files that a crash left beside a file: regular files named `.NAME.SUFFIX` whose whole suffix matches. Never
 * throws. A file that cannot be removed stays for the next call.
 */
export async function removeLeftovers(
  target: string,
  suffix: RegExp,
  isAbandoned: (match: RegExpExecArray, stats: Stats) => boolean,
): Promise<void> {
  const folder = path.dirname(target);
  const prefix = `.${path.basename(target)}.`;
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const match = name.startsWith(prefix) ? suffix.exec(name.slice(prefix.length)) : null;
    if (match?.[0] !== name.slice(prefix.length)) continue;
    const file = path.join(folder, name);
    try {
      const stats = await lstat(file);
      if (stats.isFile() && isAbandoned(match, stats)) await unlink(file);
    } catch {
      // The file is gone, or stays for the next call.
    }
  }
}
