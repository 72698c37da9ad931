import { quoteText } from '@wins/wins-program';
import { closestMatch } from 'leven';

/** The longest word of ours is much shorter: to compare others would take long and find nothing. */
const LONGEST_WORD = 40;

/** `; did you mean "run"?`, or nothing when no known word is similar. */
export function suggest(word: string, known: readonly string[]): string {
  if (word.length > LONGEST_WORD) return '';
  const maxDistance = Math.min(2, Math.ceil(word.length / 2));
  const found = closestMatch(word.toLowerCase(), known, { maxDistance });
  return found === undefined ? '' : `; did you mean ${quoteText(found)}?`;
}
