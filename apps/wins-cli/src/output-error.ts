import { fileSystemError } from '@wins/trusted-files';
import { messageOf } from '@wins/base';
import { CommandError } from './command-error.js';

/** Returns the error for output that cannot be written. @param tried - Description of the failed write. */
export function outputError(tried: string, cause: Error): CommandError {
  return new CommandError(`cannot write ${tried}: ${foundIn(cause)}`, undefined, { cause });
}

/** Returns the explanation of a system error, for the end of a message. */
export function foundIn(cause: unknown): string {
  const error = fileSystemError(cause, 'write', '');
  return error instanceof Object && 'found' in error ? String(error.found) : messageOf(error);
}
