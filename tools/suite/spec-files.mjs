// Statements about spec files: what they need, and which of them a run tries.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';

/**
 * Returns what a spec file needs, from its line `@needs`; tools/prepare.mjs makes it.
 *
 * @param {string} file
 */
export function needsOf(file) {
  const [, needs = ''] = /^\/\*\* @needs ([a-z -]+) \*\/$/m.exec(readFileSync(file, 'utf8')) ?? [];
  return needs.split(' ').filter(Boolean);
}

/**
 * Returns one of `share` parts of the spec files, chosen by the seed; at least one file if there is any.
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
