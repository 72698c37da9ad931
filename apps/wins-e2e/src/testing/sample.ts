import { createHash } from 'node:crypto';

/** Whether a long spec tries all that there is: `npm run test:long -- --all`. */
export const isAll = process.env['WINS_TEST_ALL'] === '1';
const SEED = process.env['WINS_TEST_SEED'] ?? '0';

/**
 * The acts at which a long spec kills: so many of them, which the seed of the run chooses; all of them with
 * `npm run test:long -- --all`. A failure has to name its act: with `--all` it is met again.
 *
 * @param count - How many, 2 at least; the first and the last are always among them.
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

/** The numbers from 1 to `last`. */
export function numbersTo(last: number): readonly number[] {
  return Array.from({ length: last }, (_, index) => index + 1);
}
