import { escapeText } from '@wins/base';
import stringWidth from 'string-width';

/** Wide characters count as two columns. */
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
