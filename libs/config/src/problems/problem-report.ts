import { ConfigError } from '../config-error.js';
import type { ConfigProblem, ContentProblemCode } from './config-problem.js';
import { describeProblem } from './describe-problem.js';
import { lineStarts, placeIn, type TextPlace } from './line-ends.js';

/** Problems told about one file; with that many, warnings or not, it is given up as no configuration. */
export const MAX_PROBLEMS = 1000;

/** What a check has to say; the report adds the file, the line and the column. */
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

/** Collects the findings about one text, so that all of them are told at once. */
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
    const { offset, keyPath = '', code, found, expected, nearestKey, nextStep } = finding;
    const problem = describeProblem({
      severity,
      code,
      file: this.#file,
      ...(offset === undefined ? {} : this.place(offset)),
      keyPath,
      found,
      expected,
      ...(nearestKey === undefined ? {} : { nearestKey }),
      nextStep,
    });
    this.#problems.push({ offset: offset ?? Number.MAX_SAFE_INTEGER, problem });
    if (this.#problems.length !== MAX_PROBLEMS) return;
    this.error({
      code: 'tooManyProblems',
      found: `${MAX_PROBLEMS} problems, and stopped reading`,
      expected: 'a configuration file',
    });
    this.throwIfBroken();
  }
}
