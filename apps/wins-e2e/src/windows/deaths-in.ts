import { isAll } from '../testing/sample.js';

/**
 * At which changes a command is to die, counted from 1: some at equal distances, and the last of each kind; with
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
  return changes
    .map((_, index) => index + 1)
    .filter((number) => number % distance === 0 || lastOfKind.has(number));
}
