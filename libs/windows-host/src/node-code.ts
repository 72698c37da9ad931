import { WindowsError } from './windows-error.js';

/**
 * An error with the code that Node gives it, when it is one of some failures of the
 * system; any other error comes back as it is.
 *
 * @param found what it means that the system failed so.
 */
export function withNodeCode(
  error: unknown,
  code: string,
  errorNumbers: readonly number[],
  found: string,
): unknown {
  if (!(error instanceof WindowsError) || error.errorNumber === undefined) return error;
  if (!errorNumbers.includes(error.errorNumber)) return error;
  return Object.assign(new Error(`${error.message}: ${found}`, { cause: error }), { code });
}
