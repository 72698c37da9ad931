import { isAll, sampleOf } from '../testing/sample.js';

/** Maximum number of changes in a sample. It is small because each test of a killed command takes about ten seconds. */
const MOST = 3;

/**
 * Returns the positions of the changes at which to kill a command; the first change has position 1. The positions are a sample from evenly spaced
 * changes and the last change of each kind. With `run-specs.mjs --long --all`, returns all positions.
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
