/** A line that is longer than the terminal is cut, because a wrapped line would take two rows. */
const WRAP_OFF = '\u001b[?7l';
const WRAP_ON = '\u001b[?7h';
const HOME = '\u001b[H';
const CLEAR_LINE = '\u001b[K';
const CLEAR_BELOW = '\u001b[J';

/** Redraws the terminal from its first row, like `docker stats`. @param rows - Height; 0: unknown. Longer text ends with a count of omitted lines. */
export function redrawn(text: string, rows = 0): string {
  const lines = text.split('\n').slice(0, -1);
  // Leaves the last row empty, because a line feed there would scroll the screen.
  const shown = rows === 0 || lines.length < rows ? lines : lines.slice(0, Math.max(0, rows - 2));
  const left = lines.length - shown.length;
  if (left > 0) shown.push(`… and ${left} more`);
  const drawn = shown.map((line) => `${line}${CLEAR_LINE}\n`).join('');
  return `${WRAP_OFF}${HOME}${drawn}${CLEAR_BELOW}${WRAP_ON}`;
}
