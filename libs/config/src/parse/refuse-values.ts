import { ConfigError } from '../config-error.js';
import { describeProblem } from '../problems/config-problem.js';
import type { LoadedConfig } from '../load/load-config.js';

/** A value that is well-formed and that its reader cannot do. */
export interface RefusedValue {
  /** The key path of an origin, such as `processEnvironment`. */
  readonly keyPath: string;
  readonly found: string;
  readonly expected: string;
}

/** Makes the error of a config whose values mean what must not be, each told with its place in the file. */
export function refuseValues(
  { path, origins }: LoadedConfig,
  values: readonly RefusedValue[],
): ConfigError {
  const problems = values.map((value) => {
    const origin = origins.find(({ key }) => key === value.keyPath)?.origin ?? 'default';
    return describeProblem({
      ...{ severity: 'error', code: 'wrongValue', file: path },
      ...(origin === 'default' ? {} : origin),
      ...value,
    });
  });
  return new ConfigError('invalid', problems);
}
