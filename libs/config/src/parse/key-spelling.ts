/**
 * Returns the form that all accepted spellings of a key have in common: `white_list`, `whiteList`, `White-List`.
 *
 * Only ASCII letters lose their case: U+212A (Kelvin sign) is no `k` and U+0130 is no `i`.
 */
export function foldKey(key: string): string {
  return key
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replace(/(?<=[a-z0-9])[-_](?=[a-z0-9])/g, '');
}

/** Whether earlier releases find a key under this spelling: they compare without regard to case, and know no other difference. */
export function isFoundByGo(written: string, key: string): boolean {
  return written.toLowerCase() === key.toLowerCase();
}

export interface KeyWriting {
  readonly written: string;
  readonly isEmpty: boolean;
}

/**
 * Returns the one of several writings of a key that counts: the same as in the Go releases from 0.1.2 on. A spelling that they do not
 * find counts for nothing beside one that they find. Of one spelling the last counts. They go through different spellings in the order
 * of their characters, and each overwrites those before it, unless it has no value.
 *
 * @param writings - In the order of the file; at least one.
 */
export function writingThatCounts<Writing extends KeyWriting>(
  writings: readonly [Writing, ...Writing[]],
  key: string,
): Writing {
  const lastOfEach = [...new Map(writings.map((each) => [each.written, each])).values()];
  const rank = ({ written, isEmpty }: KeyWriting): number =>
    isFoundByGo(written, key) ? (isEmpty ? 1 : 2) : 0;
  return lastOfEach.reduce((best, next) => {
    const lead = rank(next) - rank(best);
    return lead > 0 || (lead === 0 && next.written > best.written) ? next : best;
  });
}

/** The usual spellings of a key, the canonical one first: camel, snake and kebab form. */
export function spellingsOf(key: string): readonly string[] {
  const words = key
    .replace(/([a-z0-9])(?=[A-Z])|([A-Z])(?=[A-Z][a-z])/g, '$&-')
    .split(/[-_]/)
    .map((word) => word.toLowerCase());
  const camel = words.map((word, at) =>
    at === 0 ? word : word.slice(0, 1).toUpperCase() + word.slice(1),
  );
  return [...new Set([key, camel.join(''), words.join('_'), words.join('-')])];
}

/**
 * The known key that a misspelt one most likely means, or undefined when none is near.
 *
 * Near is a third of the letters wrong at most, two letters swapped counting as one.
 */
export function nearestKey(key: string, known: Iterable<string>): string | undefined {
  const wanted = foldKey(key);
  let nearest: string | undefined;
  let nearestDistance = Infinity;
  for (const candidate of known) {
    const folded = foldKey(candidate);
    const limit = Math.floor(folded.length / 3);
    // Also keeps a key of a million letters from being compared letter by letter.
    if (Math.abs(folded.length - wanted.length) > limit) continue;
    const distance = editDistance(wanted, folded);
    if (distance <= limit && distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Damerau-Levenshtein distance in which no piece is edited twice. */
function editDistance(a: string, b: string): number {
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1];
      let cost = Math.min(
        at(last, column) + 1,
        at(current, column - 1) + 1,
        at(last, column - 1) + (same ? 0 : 1),
      );
      const swapped =
        row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, at(beforeLast, column - 2) + 1);
      current.push(cost);
    }
    beforeLast = last;
    last = current;
  }
  return at(last, b.length);
}

function at(row: readonly number[], column: number): number {
  return row[column] ?? Infinity;
}
