import { escapeText } from '@wins/wins-program';

/** The most characters that the event log takes in one string. */
export const LONGEST_EVENT_TEXT = 31_839;

const CUT = '…';

/**
 * Lines as one text for the event log. Text of others cannot make a line, turn words around or end the text early:
 * characters that would are shown as escapes. So is `%` before a digit, which the event viewer would fill in.
 *
 * @returns At most {@link LONGEST_EVENT_TEXT} UTF-16 units; what is longer is cut, and ends with `…`.
 */
export function eventText(lines: readonly string[]): string {
  let text = '';
  for (const line of lines) {
    text += `${text === '' ? '' : '\r\n'}${escapeLine(line)}`;
    if (text.length > LONGEST_EVENT_TEXT) break;
  }
  return text.length > LONGEST_EVENT_TEXT
    ? `${text.slice(0, LONGEST_EVENT_TEXT - CUT.length)}${CUT}`
    : text;
}

function escapeLine(line: string): string {
  return escapeText(line, { maxLength: LONGEST_EVENT_TEXT + 1 }).replace(/%(?=\d)/g, '\\u0025');
}
