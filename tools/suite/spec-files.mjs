import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Returns the prerequisites in a spec file's line `@needs`; tools/prepare.mjs makes them.
 *
 * @param {string} file
 */
export function needsOf(file) {
  const [, needs = ''] = /^\/\*\* @needs ([a-z -]+) \*\/$/m.exec(readFileSync(file, 'utf8')) ?? [];
  return needs.split(' ').filter(Boolean);
}

/**
 * Returns the spec files in the order that the seed chooses.
 *
 * @param {readonly string[]} files
 * @param {string} seed
 */
export function inOrderOf(seed, files) {
  /** @param {string} file */
  const order = (file) => createHash('sha256').update(`${seed} ${file}`).digest('hex');
  return files.toSorted((a, b) => order(a).localeCompare(order(b)));
}
