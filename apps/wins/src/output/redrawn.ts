const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/**
 * Returns text that draws lines over the screen of a terminal, from its first row on, as `docker stats` does.
 *
 * @param text - Lines, each with its end.
 * @param rows - The height of the terminal: what is longer ends with a row that counts what is left out. 0 or absent: not known, so all lines.
 */
export function redrawn(text: string, rows = 0): string {
  const lines = text.split('\n').slice(0, -1);
  // The last row stays empty: a line feed there would move everything up.
  const shown = rows === 0 || lines.length < rows ? lines : lines.slice(0, Math.max(0, rows - 2));
  const left = lines.length - shown.length;
  if (left > 0) shown.push(`… and ${left} more`);
  return `${HOME}${shown.map((line) => `${line}${CLEAR_LINE}\n`).join('')}${CLEAR_BELOW}`;
}
