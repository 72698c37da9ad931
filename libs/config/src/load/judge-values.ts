import { ConfigError } from '../config-error.js';
import {
  type ConfigProblem,
  describeProblem,
  type ContentProblemCode,
} from '../problems/config-problem.js';
import type { LoadedConfig } from './load-config.js';

const LAST = Number.MAX_SAFE_INTEGER;

/** A well-formed value that the daemon rejects or warns about. */
export interface JudgedValue {
  readonly severity: 'error' | 'warning';
  /** Default `wrongValue`. */
  readonly code?: ContentProblemCode | undefined;
  /** Path of a key, such as `white_list.processPaths[0]`, or of a section. */
  readonly keyPath: string;
  readonly found: string;
  readonly expected: string;
  readonly nextStep?: string | undefined;
}

/**
 * Adds `values` to the warnings of a config, with their positions in the file.
 *
 * @throws ConfigError `invalid` with all problems, if one of `values` is an error.
 */
export function judgeValues(loaded: LoadedConfig, values: readonly JudgedValue[]): LoadedConfig {
  if (values.length === 0) return loaded;
  const warnings = [...loaded.warnings, ...values.map((value) => problemOf(loaded, value))];
  warnings.sort((a, b) => (a.line ?? LAST) - (b.line ?? LAST));
  if (values.some(({ severity }) => severity === 'error'))
    throw new ConfigError('invalid', warnings);
  return { ...loaded, warnings };
}

function problemOf(
  { path, origins }: LoadedConfig,
  { code = 'wrongValue', ...value }: JudgedValue,
): ConfigProblem {
  const { keyPath } = value;
  // A section has no origin, so use the origin of a key in it.
  const { origin = 'default' } =
    origins.find(({ key }) => key === keyPath) ??
    origins.find((one) => one.key.startsWith(`${keyPath}.`) && one.origin !== 'default') ??
    {};
  return describeProblem({ ...value, code, file: path, ...(origin === 'default' ? {} : origin) });
}
