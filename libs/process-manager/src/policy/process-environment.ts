import { quoteText } from '@wins/wins-program';
import { isLoaderVariable } from './guarded-variables.js';
import type { PathDialect } from './parsed-path.js';

/**
 * Says which variables may not be given to every run alike, because programs load code by them: name by name, why. An entry
 * may grant such a one to the clients of its program (`envs`). Pure; empty when all is well.
 */
export function checkProcessEnvironment(
  environment: Readonly<Record<string, string>>,
  dialect: PathDialect,
): readonly { readonly name: string; readonly message: string }[] {
  return Object.keys(environment)
    .filter((name) => isLoaderVariable(name, dialect))
    .map((name) => ({
      name,
      message: `the variable ${quoteText(name)}, which changes what programs load`,
    }));
}
