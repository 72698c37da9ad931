import { escapeText, isUsageError, messageOf, type CommandHandler } from '@wins/wins-program';
import { exitCodeForError } from './exit-code-for-error.js';

/**
 * Makes a command of a function that is loaded when it runs: what it throws becomes lines on standard error and an exit code. Only
 * a `UsageError` is left to whoever read the command line.
 */
export function guard<Options>(
  load: () => Promise<CommandHandler<Options>>,
): CommandHandler<Options & { readonly debug: boolean }> {
  return async (options, surroundings) => {
    try {
      return await (
        await load()
      )(options, surroundings);
    } catch (error) {
      if (isUsageError(error)) throw error;
      writeLines(messageOf(error));
      if (options.debug && error instanceof Error) writeLines(error.stack ?? '', '');
      return exitCodeForError(error);
    }
  };
}

/** Only the line feeds are ours: each line may repeat foreign text. */
function writeLines(text: string, prefix = 'wins: '): void {
  const lines = text.split('\n').map((line) => escapeText(line));
  process.stderr.write(`${prefix}${lines.join('\n')}\n`);
}
