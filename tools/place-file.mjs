import { randomBytes } from 'node:crypto';
import { copyFileSync, existsSync, readFileSync, renameSync } from 'node:fs';

/**
 * Copies a file to a place where a running program may have it mapped, as a native add-on: the place gets another file,
 * since bytes that change under a program end it.
 */
export function placeFile(source, target) {
  if (existsSync(target) && readFileSync(target).equals(readFileSync(source))) return;
  const staged = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  copyFileSync(source, staged);
  renameSync(staged, target);
}
