import {
  escapeText,
  EXIT,
  finishCommand,
  isUsageError,
  messageOf,
  withGivenOptions,
  type CommandHandler,
  type Answer,
  type GivenOptions,
} from '@wins/base';
import { CommandError } from './command-error.js';

export interface GuardedOptions extends Pick<GivenOptions, 'server'> {
  readonly debug: boolean;
  readonly quiet: boolean;
}

/** Turns an error into a line on standard error and an exit code. A `UsageError` passes through to the parser. */
export function guard<Options>(
  command: CommandHandler<Options, number | Answer>,
): CommandHandler<Options & GuardedOptions> {
  return async (options, surroundings) => {
    try {
      return await finishCommand(await command(options, surroundings), surroundings.show);
    } catch (error) {
      if (isUsageError(error)) throw error;
      if (!options.quiet) {
        process.stderr.write(
          `wins: ${escapeText(withGivenOptions(messageOf(error), { server: options.server }))}\n`,
        );
        if (options.debug && error instanceof Error) {
          for (const line of (error.stack ?? '').split('\n'))
            process.stderr.write(`${escapeText(line)}\n`);
        }
      }
      return error instanceof CommandError ? error.exitCode : EXIT.client.failed;
    }
  };
}
