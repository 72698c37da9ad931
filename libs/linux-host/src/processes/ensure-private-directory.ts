import { lstatSync, mkdirSync } from 'node:fs';

/**
 * Creates the directory (mode 0700, with its parents), or checks that only this user can use it: no symbolic link, our own,
 * nothing for group and others.
 *
 * @returns why it is refused, or undefined.
 * @throws what Node throws when it cannot be created or inspected.
 */
export function ensurePrivateDirectory(path: string, ownUid: number): string | undefined {
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const stats = lstatSync(path);
  if (!stats.isDirectory()) return 'it is not a directory';
  if (stats.uid !== ownUid) return `it belongs to user ${stats.uid}`;
  return (stats.mode & 0o077) === 0 ? undefined : 'group or others have access';
}
