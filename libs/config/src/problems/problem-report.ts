import { ConfigError } from '../config-error.js';
import { type ConfigProblem, type ContentProblemCode, describeProblem } from './config-problem.js';

/** Line and column, both from 1. */
interface TextPlace {
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

export function nextLineStart(text: string, offset: number): number {
  const ends = lineEnds();
  ends.lastIndex = offset;
  return ends.exec(text) === null ? text.length : ends.lastIndex;
}

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

/** Problems told about one file; with that many, warnings or not, it is given up as no configuration. */
export const MAX_PROBLEMS = 1000;

export interface Finding {
  readonly code: ContentProblemCode;
  readonly keyPath?: string;
  /** Index into the text; absent when the finding is not at a place in it. */
  readonly offset?: number | undefined;
  readonly found: string;
  readonly expected: string;
  readonly nearestKey?: string | undefined;
  readonly nextStep?: string | undefined;
}

export class ProblemReport {
  readonly #file: string;
  readonly #text: string;
  readonly #lineStarts: readonly number[];
  readonly #problems: { readonly offset: number; readonly problem: ConfigProblem }[] = [];

  constructor(file: string, text: string) {
    this.#file = file;
    this.#text = text;
    this.#lineStarts = lineStarts(text);
  }

  /** @throws ConfigError `invalid` when there are {@link MAX_PROBLEMS}. */
  error(finding: Finding): void {
    this.#add('error', finding);
  }

  /** @throws ConfigError `invalid` when there are {@link MAX_PROBLEMS}. */
  warning(finding: Finding): void {
    this.#add('warning', finding);
  }

  /** Line and column of an index into the text, both from 1. */
  place(offset: number): TextPlace {
    return placeIn(this.#text, offset, this.#lineStarts);
  }

  /** The problems in the order of the text; those without a place come last. */
  sorted(): ConfigProblem[] {
    return [...this.#problems].sort((a, b) => a.offset - b.offset).map(({ problem }) => problem);
  }

  /** @throws ConfigError `invalid` with all problems, when one of them is an error. */
  throwIfBroken(): void {
    const problems = this.sorted();
    if (problems.some(({ severity }) => severity === 'error'))
      throw new ConfigError('invalid', problems);
  }

  #add(severity: ConfigProblem['severity'], finding: Finding): void {
    const { offset, keyPath = '', nearestKey, ...facts } = finding;
    const problem = describeProblem({
      ...{ severity, file: this.#file, keyPath, ...facts },
      ...(offset === undefined ? {} : this.place(offset)),
      ...(nearestKey === undefined ? {} : { nearestKey }),
    });
    this.#problems.push({ offset: offset ?? Number.MAX_SAFE_INTEGER, problem });
    if (this.#problems.length !== MAX_PROBLEMS) return;
    const tooMany = `${MAX_PROBLEMS} problems, and stopped reading`;
    this.error({ code: 'tooManyProblems', found: tooMany, expected: 'a configuration file' });
    this.throwIfBroken();
  }
}
