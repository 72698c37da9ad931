import type {
  ConfigProblem,
  ContentProblemCode,
  FileProblemCode,
} from './problems/config-problem.js';
import { describeProblem, type ProblemFacts } from './problems/describe-problem.js';

/** Why a configuration could not be had: `invalid` for its content, else what is wrong with the file. */
export type ConfigErrorCode = 'invalid' | FileProblemCode;

const SHOWN_PROBLEMS = 20;

/** A configuration that cannot be used or saved, with every problem that was found. */
export class ConfigError extends Error {
  /** What kind of failure it is. */
  readonly code: ConfigErrorCode;
  /** Every problem in file order, warnings included; at least one is an error. */
  readonly problems: readonly ConfigProblem[];

  constructor(
    code: ConfigErrorCode,
    problems: readonly ConfigProblem[],
    options?: { cause?: unknown },
  ) {
    const errors = problems.filter((problem) => problem.severity === 'error');
    const lines = errors.slice(0, SHOWN_PROBLEMS).map((problem) => problem.message);
    if (errors.length > SHOWN_PROBLEMS) lines.push(`and ${errors.length - SHOWN_PROBLEMS} more`);
    super(lines.join('\n'), options);
    this.name = 'ConfigError';
    this.code = code;
    this.problems = problems;
  }
}

/** Makes the error for one problem of what a file says. */
export function contentError(
  problem: Omit<ProblemFacts, 'severity' | 'code'> & { readonly code: ContentProblemCode },
): ConfigError {
  return new ConfigError('invalid', [describeProblem({ ...problem, severity: 'error' })]);
}

/** Makes the error for a problem of the file as a whole. */
export function fileError(
  code: FileProblemCode,
  file: string,
  found: string,
  expected: string,
  { nextStep, ...options }: { cause?: unknown; nextStep?: string } = {},
): ConfigError {
  const problem = {
    severity: 'error',
    code,
    file,
    keyPath: '',
    found,
    expected,
    nextStep,
  } as const;
  return new ConfigError(code, [describeProblem(problem)], options);
}
