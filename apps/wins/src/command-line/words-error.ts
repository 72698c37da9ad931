import { UsageError } from '@wins/wins-program';
import type { Command, Group } from './command.js';

/** Words that make no sense, and how far they did. */
export class WordsError extends UsageError {
  constructor(
    message: string,
    readonly path: readonly (Group | Command)[],
  ) {
    super(message);
  }
}
