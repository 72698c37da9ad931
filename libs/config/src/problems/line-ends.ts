/** Line and column, both from 1. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

/**
 * The ends of lines in YAML 1.1, as files have them: LF, CR LF, CR, and NEL (U+0085). CR CR LF is what a conversion of line ends leaves
 * that was done twice; it ends one line of who wrote it.
 */
const lineEnds = (): RegExp => /\r{0,2}\n|[\r\u0085]/g;

/** The first end of a line in a text; undefined when it has one line. */
export function firstLineEnd(text: string): string | undefined {
  return lineEnds().exec(text)?.[0];
}

/** The offset behind the next end of a line, or of the text. */
export function nextLineStart(text: string, offset: number): number {
  const ends = lineEnds();
  ends.lastIndex = offset;
  return ends.exec(text) === null ? text.length : ends.lastIndex;
}

/** Where each line of a text begins. */
export function lineStarts(text: string): number[] {
  return [0, ...Array.from(text.matchAll(lineEnds()), ({ index, 0: end }) => index + end.length)];
}

/** The place of an offset in a text of which the {@link lineStarts} are known. */
export function placeIn(
  text: string,
  offset: number,
  starts: readonly number[] = lineStarts(text),
): TextPlace {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}

/**
 * The text with line feeds alone, and CR LF, as parsers of YAML 1.2 know them; every character stays at its offset. CR CR LF becomes two
 * line ends, as YAML 1.1 takes it.
 */
export function withLineFeeds(text: string): string {
  return text.replace(/\r(?!\n)|\u0085/g, '\n');
}
