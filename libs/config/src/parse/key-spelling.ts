/**
 * Returns one form for all accepted spellings of a key: `white_list`, `whiteList`, `White-List`. Folds ASCII letters only: U+212A
 * (Kelvin sign) does not become `k`.
 */
export function foldKey(key: string): string {
  return key
    .replace(/[A-Z]/g, (letter) => letter.toLowerCase())
    .replace(/(?<=[a-z0-9])[-_](?=[a-z0-9])/g, '');
}

/** Whether the earlier Go releases accept `written` as a spelling of `key`. They ignore case, and accept no other difference. */
export function isFoundByGo(written: string, key: string): boolean {
  return written.toLowerCase() === key.toLowerCase();
}

export interface KeyWriting {
  readonly written: string;
  readonly isEmpty: boolean;
}

/**
 * Chooses which of several `writings` of a key (in file order) takes effect, as the Go releases since 0.1.2 do. If a spelling is
 * repeated, only the last writing with it counts. A spelling that the Go releases accept wins over one that they do not accept.
 * Among accepted spellings, one with a value wins over an empty one. Between equals, the last spelling in character order wins.
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

/** Usual spellings: canonical first, then camel, snake and kebab case. */
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
 * Returns the known key that a misspelt key most likely means; undefined when more than a third of the letters differ. Two
 * swapped letters count once.
 */
export function nearestKey(key: string, known: Iterable<string>): string | undefined {
  const wanted = foldKey(key);
  let nearest: string | undefined;
  let nearestDistance = Infinity;
  for (const candidate of known) {
    const folded = foldKey(candidate);
    const limit = Math.floor(folded.length / 3);
    // Skips slow comparisons: a key may have a million letters.
    if (Math.abs(folded.length - wanted.length) > limit) continue;
    const distance = editDistance(wanted, folded);
    if (distance <= limit && distance < nearestDistance) {
      nearest = candidate;
      nearestDistance = distance;
    }
  }
  return nearest;
}

/** Damerau-Levenshtein distance (optimal string alignment). */
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
