import { isAll, sampleOf } from '../testing/sample.js';

/** Few, because each death takes about ten seconds. */
const MOST = 3;

/**
 * Returns the changes, counted from 1, at which to kill a command. Samples evenly spaced changes and the last change of each kind; with
 * `run-specs.mjs --long --all`, returns all changes.
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
