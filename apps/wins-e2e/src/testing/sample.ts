import { createHash } from 'node:crypto';

/** Whether long specs try all cases: `npm run test:all -- --release`. */
export const isAll = process.env['WINS_TEST_ALL'] === '1';
const SEED = process.env['WINS_TEST_SEED'] ?? '0';

/**
 * Chooses the cases of a long spec by the seed of the run; `--release` chooses all. A failure must name its case, so that `--release` can repeat it.
 *
 * @param count - Number of cases, at least 2; the first and the last are always chosen.
 */
export function sampleOf<T>(items: readonly T[], count: number): readonly T[] {
  if (isAll || items.length <= count) return items;
  const order = (index: number): string =>
    createHash('sha256').update(`${SEED} ${index}`).digest('hex');
  const inner = items.map((_, index) => index).slice(1, -1);
  const chosen = inner.sort((a, b) => order(a).localeCompare(order(b))).slice(0, count - 2);
  return items.filter(
    (_, index) => index === 0 || index === items.length - 1 || chosen.includes(index),
  );
}

export function numbersTo(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
