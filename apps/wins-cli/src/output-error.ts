import { messageOf } from '@wins/base';
import { fileSystemError } from '@wins/trusted-files';
import { CommandError } from './command-error.js';

export function outputError(tried: string, cause: Error): CommandError {
  return new CommandError(`cannot write ${tried}: ${foundIn(cause)}`, undefined, { cause });
}

export function foundIn(cause: unknown): string {
  const error = fileSystemError(cause, 'write', '');
  return error instanceof Object && 'found' in error ? String(error.found) : messageOf(error);
}
