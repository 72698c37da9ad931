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
 * Returns a part of the spec files, chosen by the seed. The size of the part is the number of files divided by `share`, rounded
 * up. The part is empty only if there are no files.
 *
 * @param {readonly string[]} files
 * @param {number} share
 * @param {string} seed
 */
export function shareOf(files, share, seed) {
  /** @param {string} file */
  const order = (file) => createHash('sha256').update(`${seed} ${file}`).digest('hex');
  const chosen = files.toSorted((a, b) => order(a).localeCompare(order(b)));
  return chosen.slice(0, Math.ceil(files.length / share)).sort();
}
