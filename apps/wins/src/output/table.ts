import { escapeText } from '@wins/base';
import stringWidth from 'string-width';

/** Rows under headings, columns padded with two blanks between them; some characters take two places of a line. */
export function tableOf(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [headings, ...rows].map((row) =>
    row.map((cell) => {
      const shown = escapeText(cell);
      return { shown, width: stringWidth(shown) };
    }),
  );
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.width ?? 0)),
  );
  return lines
    .map((line) =>
      line
        .map(({ shown, width }, column) => shown + ' '.repeat((widths[column] ?? 0) - width))
        .join('  ')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}
