import { fileSystemError } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import { CommandError } from './command-error.js';

/**
 * The error of a command whose output cannot be written.
 *
 * @param tried - What could not be written.
 */
export function outputError(tried: string, cause: Error): CommandError {
  return new CommandError(`cannot write ${tried}: ${foundIn(cause)}`, undefined, { cause });
}

/** Explains an error of the system, for the end of a message. */
export function foundIn(cause: unknown): string {
  const error = fileSystemError(cause, 'write', '');
  return error instanceof Object && 'found' in error ? String(error.found) : messageOf(error);
}
