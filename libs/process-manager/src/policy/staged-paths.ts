import type { AllowedExecutable } from './executable-policy.js';
import { parsePath } from './parse-path.js';
import type { PathDialect } from './parsed-path.js';
import { stagedPathOf } from './process-name.js';

/** Where the verified copies of these programs lie; entries that can never match have none. */
export function stagedPathsOf(
  allowed: readonly AllowedExecutable[],
  dialect: PathDialect,
): readonly string[] {
  return allowed.flatMap(({ path }) => {
    const parsed = parsePath(path, dialect);
    return 'refused' in parsed || parsed.baseName === '' ? [] : [stagedPathOf(parsed)];
  });
}
