import { escapeText } from '@wins/base';

const GAP = 2;
const NARROW = /^[\x20-\x7e]*$/;

/** How a table is laid out. */
interface Layout {
  /** Returns the columns that a text takes; wide characters take two. Called only for text beyond ASCII. */
  readonly widthOf: (text: string) => number;
  /** Columns of the terminal. Default: no limit. */
  readonly width?: number | undefined;
  /** Headings of columns that are left out until the rest fits, the first of them first. Default: none. */
  readonly drops?: readonly string[] | undefined;
}

export function tableOf(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  { widthOf, width = Infinity, drops = [] }: Layout,
): string {
  const lines = [headings, ...rows].map((row) =>
    row.map((cell) => {
      const shown = escapeText(cell);
      return { shown, width: NARROW.test(shown) ? shown.length : widthOf(shown) };
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
