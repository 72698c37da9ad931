import {
  escapeText,
  finishCommand,
  isUsageError,
  messageOf,
  withGivenOptions,
  type Answer,
  type CommandHandler,
  type CommandSurroundings,
  type GivenOptions,
} from '@wins/base';

type Asynchronous<Loaded> = Loaded extends (...given: infer Given) => Promise<infer Result>
  ? (...given: Given) => Promise<Result>
  : never;

type Guarded<Loaded> = Loaded extends (options: infer Options, ...more: never) => unknown
  ? (
      options: Options & { readonly debug: boolean },
      surroundings: CommandSurroundings,
    ) => Promise<number>
  : never;

/** Returns a function that loads its implementation at each call. */
export function later<Loaded, Name extends keyof Loaded>(
  load: () => Promise<Loaded>,
  name: Name,
): Asynchronous<Loaded[Name]> {
  const call = async (...given: readonly unknown[]): Promise<unknown> =>
    ((await load())[name] as typeof call)(...given);
  return call as Asynchronous<Loaded[Name]>;
}

interface GuardedOptions extends GivenOptions {
  readonly debug: boolean;
}

/** Errors become lines on standard error and an exit code. A `UsageError` passes through to the parser. */
export function guard<Loaded, Name extends keyof Loaded>(
  load: () => Promise<Loaded>,
  name: Name,
): Guarded<Loaded[Name]> {
  const command = later(load, name) as CommandHandler<GuardedOptions, number | Answer>;
  const run = async (options: GuardedOptions, surroundings: CommandSurroundings) => {
    try {
      return await finishCommand(await command(options, surroundings), surroundings.show);
    } catch (error) {
      if (isUsageError(error)) throw error;
      writeLines(withGivenOptions(messageOf(error), options));
      if (options.debug && error instanceof Error) writeLines(error.stack ?? '', '');
      // Loaded only here, because it loads each library whose errors it knows.
      return (await import('./exit-code-for-error.js')).exitCodeForError(error);
    }
  };
  return run as Guarded<Loaded[Name]>;
}

/** Escapes each line, which may contain untrusted text. */
function writeLines(text: string, prefix = 'wins: '): void {
  const lines = text.split('\n').map((line) => escapeText(line));
  process.stderr.write(`${prefix}${lines.join('\n')}\n`);
}
