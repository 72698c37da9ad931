import { escapeText } from '@wins/wins-program';

/** Longest text of a client about itself that is kept, in characters. */
const LONGEST = 128;

/** What a client calls itself, as records may repeat it: cut at 128 characters, escapes in place of what steers a terminal. */
export function clientLabel(text: string): string {
  return escapeText(text, { maxLength: LONGEST });
}
