import {
  resolvePipePath as resolve,
  TextError,
  type PipePath,
  type ResolvePipePathOptions,
} from '@wins/base';
import { PipeError } from './pipe-error.js';

export type { PipePath, ResolvePipePathOptions };

/**
 * Resolves the name of a pipe to its address, without access to the file system.
 *
 * @throws {@link PipeError} `invalidName` when the text names no local pipe or exceeds a limit; `notFound` when a bare
 * name needs a run directory and none is known.
 */
export function resolvePipePath(name: string, options: ResolvePipePathOptions = {}): PipePath {
  try {
    return resolve(name, options);
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    const code = error.code === 'notFound' ? 'notFound' : 'invalidName';
    throw new PipeError(code, error.message, { pipe: name, found: error.found });
  }
}
