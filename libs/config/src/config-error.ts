import {
  describeProblem,
  quote,
  type ConfigProblem,
  type ContentProblemCode,
  type FileProblemCode,
  type ProblemFacts,
} from './problems/config-problem.js';
import { messageOf } from '@wins/base';
import { TrustedFileError, type TrustedFileErrorCode } from '@wins/trusted-files';

/**
 * Reason of a failure. Every other code is about the file: {@link FileProblemCode}.
 *
 * - `invalid`: the content or a change is wrong.
 */
export type ConfigErrorCode = 'invalid' | FileProblemCode;

const SHOWN_PROBLEMS = 20;

/** A config that cannot be used or saved, with all problems. */
export class ConfigError extends Error {
  /** `invalid` for a fault in the content; otherwise the reason why the file cannot be used. */
  readonly code: ConfigErrorCode;
  /** In file order, with warnings. At least one is an error. */
  readonly problems: readonly ConfigProblem[];

  constructor(code: ConfigErrorCode, problems: readonly ConfigProblem[], options?: ErrorOptions) {
    const errors = problems.filter((problem) => problem.severity === 'error');
    const lines = errors.slice(0, SHOWN_PROBLEMS).map((problem) => problem.message);
    if (errors.length > SHOWN_PROBLEMS) lines.push(`and ${errors.length - SHOWN_PROBLEMS} more`);
    super(lines.join('\n'), options);
    this.name = 'ConfigError';
    this.code = code;
    this.problems = problems;
  }
}

export function contentError(
  problem: Omit<ProblemFacts, 'severity' | 'code'> & { readonly code: ContentProblemCode },
): ConfigError {
  return new ConfigError('invalid', [describeProblem({ ...problem, severity: 'error' })]);
}

export function fileError(
  code: FileProblemCode,
  file: string,
  found: string,
  expected: string,
  { nextStep, ...options }: { cause?: unknown; nextStep?: string | undefined } = {},
): ConfigError {
  const facts = { severity: 'error', code, file, keyPath: '', found, expected, nextStep } as const;
  return new ConfigError(code, [describeProblem(facts)], options);
}

const SYSTEM_CODES: ReadonlyMap<unknown, readonly [FileProblemCode, string]> = new Map([
  ['ENOENT', ['notFound', 'nothing at this path']],
  ['ENOTDIR', ['notFound', 'a path that leads through a file']],
  ['ERR_INVALID_ARG_VALUE', ['notFound', 'a path with a NUL character']],
  ['EACCES', ['accessDenied', 'no permission to access it']],
  ['EPERM', ['accessDenied', 'no permission to access it']],
  ['EROFS', ['accessDenied', 'a read-only file system']],
  ['EISDIR', ['notRegularFile', 'a directory']],
  ['ENXIO', ['notRegularFile', 'a device or socket']],
  ['ELOOP', ['notRegularFile', 'a loop of symbolic links']],
]);

/** Codes that are not listed map to `unknown`. */
const CODES: Readonly<Partial<Record<TrustedFileErrorCode, FileProblemCode>>> = {
  accessDenied: 'accessDenied',
  changed: 'insecure',
  notFound: 'notFound',
  notRegularFile: 'notRegularFile',
  notTrusted: 'insecure',
  tooLarge: 'tooLarge',
};
const TRUSTED = 'a file that only administrators or the user of this process can write';

/** Whether the file does not exist; false when a parent is not a folder. */
export function isMissing(error: unknown): boolean {
  return error instanceof TrustedFileError && systemCode(error.cause) === 'ENOENT';
}

/** Translates an error of a file operation. `expected` describes the wanted state of the file. */
export function translateFileError(error: unknown, file: string, expected: string): ConfigError {
  if (error instanceof ConfigError) return error;
  if (!(error instanceof TrustedFileError)) {
    return fileError('unknown', file, `the failure ${messageOf(error)}`, expected, {
      cause: error,
    });
  }
  const cause = error.cause ?? error;
  const known = SYSTEM_CODES.get(systemCode(error.cause));
  if (known !== undefined) return fileError(known[0], file, known[1], expected, { cause });
  const code = CODES[error.code] ?? 'unknown';
  const where = error.at === file ? '' : `at ${quote(error.at)} `;
  const wanted = code === 'insecure' ? TRUSTED : expected;
  const { found = error.found, remedy: nextStep } = error.distrust ?? {};
  return fileError(code, file, `${where}that ${found}`, wanted, { cause, nextStep });
}

function systemCode(cause: unknown): unknown {
  return (cause as { readonly code?: unknown } | undefined)?.code;
}
