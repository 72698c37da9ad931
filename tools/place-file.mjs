import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';

/**
 * Copies a file to a path that a running program may have mapped, such as a native add-on. Changing mapped bytes would crash the program, so this
 * renames a new file into place.
 */
export function placeFile(source, target) {
  if (existsSync(target) && readFileSync(target).equals(readFileSync(source))) return;
  const staged = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  copyFileSync(source, staged);
  renameSync(staged, target);
}
