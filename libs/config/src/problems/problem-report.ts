import { ConfigError } from '../config-error.js';
import { type ConfigProblem, type ContentProblemCode, describeProblem } from './config-problem.js';

interface TextLocation {
  readonly line: number;
  readonly column: number;
}

/** Line ends of YAML 1.1: LF, CR LF, CR, and NEL (U+0085). For line numbers, CR CR LF counts as one line end: a double conversion writes it. */
const lineEnds = (): RegExp => /\r{0,2}\n|[\r\u0085]/g;

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

export function locationIn(
  text: string,
  offset: number,
  starts: readonly number[] = lineStarts(text),
): TextLocation {
  let low = 0;
  let high = starts.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
}

/** Limit of problems, warnings included. When it is reached, the file is refused. */
export const MAX_PROBLEMS = 1000;

export interface Finding {
  readonly code: ContentProblemCode;
  readonly keyPath?: string;
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

  /** @throws ConfigError `invalid` when this problem is number {@link MAX_PROBLEMS}. */
  error(finding: Finding): void {
    this.#add('error', finding);
  }

  /** @throws ConfigError `invalid` when this problem is number {@link MAX_PROBLEMS}. */
  warning(finding: Finding): void {
    this.#add('warning', finding);
  }

  location(offset: number): TextLocation {
    return locationIn(this.#text, offset, this.#lineStarts);
  }

  /** In text order; problems without a position come last. */
  sorted(): ConfigProblem[] {
    return [...this.#problems].sort((a, b) => a.offset - b.offset).map(({ problem }) => problem);
  }

  /** @throws ConfigError `invalid` with all problems, if there is an error. */
  throwIfBroken(): void {
    const problems = this.sorted();
    if (problems.some(({ severity }) => severity === 'error'))
      throw new ConfigError('invalid', problems);
  }

  #add(severity: ConfigProblem['severity'], finding: Finding): void {
    const { offset, keyPath = '', nearestKey, ...facts } = finding;
    const problem = describeProblem({
      severity,
      file: this.#file,
      keyPath,
      ...facts,
      ...(offset !== undefined && this.location(offset)),
      ...(nearestKey !== undefined && { nearestKey }),
    });
    this.#problems.push({ offset: offset ?? Number.MAX_SAFE_INTEGER, problem });
    if (this.#problems.length !== MAX_PROBLEMS) return;
    const tooMany = `${MAX_PROBLEMS} problems, and stopped reading`;
    this.error({ code: 'tooManyProblems', found: tooMany, expected: 'a configuration file' });
    this.throwIfBroken();
  }
}
