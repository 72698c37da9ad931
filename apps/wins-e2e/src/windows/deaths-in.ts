import { isAll, sampleOf } from '../testing/sample.js';

/** Each death takes some ten seconds. */
const MOST = 3;

/**
 * At which changes a command is to die, counted from 1: a sample of some at equal distances and of the last of each kind; with
 * `run-specs.mjs --long --all` at each.
 *
 * @param spread - How many at equal distances.
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
