import {
  PipeNameError,
  resolvePipePath as resolve,
  type PipePath,
  type ResolvePipePathOptions,
} from '@wins/wins-program';
import { PipeError } from './pipe-error.js';

export type { PipePath, ResolvePipePathOptions };

/**
 * Turns a pipe's name into its address. Touches nothing. What a name may be: `resolvePipePath` of `@wins/wins-program`.
 *
 * @throws {@link PipeError} `invalidName` when the text names no local pipe or is over a limit;
 * `notFound` when a bare name needs a run directory and none is known.
 */
export function resolvePipePath(name: string, options: ResolvePipePathOptions = {}): PipePath {
  return asPipeError(() => resolve(name, options), name);
}

/** Says what ground says of names in the error of this library. */
export function asPipeError<T>(ask: () => T, pipe?: string): T {
  try {
    return ask();
  } catch (error) {
    if (!(error instanceof PipeNameError)) throw error;
    throw new PipeError(error.code, error.message, { pipe, found: error.found });
  }
}
