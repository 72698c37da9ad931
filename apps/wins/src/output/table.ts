import { escapeText } from '@wins/base';
import stringWidth from 'string-width';

const GAP = 2;

/** How a table is made narrower. */
interface Narrowing {
  /** Columns of the terminal. Default: no limit. */
  readonly width?: number | undefined;
  /** Headings of columns that are left out until the rest fits, the first of them first. Default: none. */
  readonly drops?: readonly string[] | undefined;
}

/** Wide characters count as two columns. */
export function tableOf(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { width = Infinity, drops = [] }: Narrowing = {},
): string {
  const lines = [headings, ...rows].map((row) =>
    row.map((cell) => {
      const shown = escapeText(cell);
      return { shown, width: stringWidth(shown) };
    }),
  );
  const widths = headings.map((_, column) =>
    Math.max(...lines.map((line) => line[column]?.width ?? 0)),
  );
  const dropped = new Set<number>();
  const needed = (): number =>
    widths.reduce((sum, each, column) => (dropped.has(column) ? sum : sum + each + GAP), -GAP);
  for (const heading of drops) if (needed() > width) dropped.add(headings.indexOf(heading));
  return lines
    .map((line) =>
      line
        .map(({ shown, width: own }, column) =>
          dropped.has(column) ? '' : shown + ' '.repeat((widths[column] ?? 0) - own + GAP),
        )
        .join('')
        .trimEnd(),
    )
    .map((line) => `${line}\n`)
    .join('');
}
