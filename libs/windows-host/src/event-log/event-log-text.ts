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
    // Escapes only lengthen, so what is cut here would have been cut anyway; a line may be of any size.
    text += `${text === '' ? '' : '\r\n'}${escapeLine(line.slice(0, LONGEST_EVENT_TEXT + 1))}`;
    if (text.length > LONGEST_EVENT_TEXT) break;
  }
  return text.length > LONGEST_EVENT_TEXT
    ? `${text.slice(0, LONGEST_EVENT_TEXT - CUT.length)}${CUT}`
    : text;
}

function escapeLine(line: string): string {
  return line.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|%(?=\d)/gu, (found) =>
    found.replace(/[^]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`),
  );
}
