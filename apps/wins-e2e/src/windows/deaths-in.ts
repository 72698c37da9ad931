import { isAll, sampleOf } from '../testing/sample.js';

/** Maximum size of a sample. Each death takes about ten seconds. */
const MOST = 3;

/**
 * Returns the numbers, counted from 1, of the changes at which to kill a command. Takes a sample from evenly spaced changes and the last change of
 * each kind; with `run-specs.mjs --long --all`, returns all changes.
 *
 * @param spread - Number of evenly spaced changes.
 */
export function deathsIn(changes: readonly string[], spread: number): readonly number[] {
  const distance = isAll ? 1 : Math.floor(changes.length / spread);
  const kinds = new Map(
    changes.map((change, index) => [/^(?:half of )?\w+/.exec(change)?.[0], index + 1]),
  );
  const lastOfKind = new Set(kinds.values());
  const all = changes
    .map((_, index) => index + 1)
    .filter((number) => number % distance === 0 || lastOfKind.has(number));
  return sampleOf(all, MOST);
}
