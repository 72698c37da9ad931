import { EXIT } from './exit-codes.js';

/** A command line that makes no sense. */
export class UsageError extends Error {
  override readonly name = 'UsageError';
  readonly exitCode = EXIT.usage;
}
