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

type Functions = Readonly<Record<string, (...given: readonly unknown[]) => Promise<unknown>>>;
type Commands = Readonly<Record<string, CommandHandler<GuardedOptions, number | Answer>>>;

/** Returns the functions of a module. Each call of one loads the module, unless it is loaded. */
export function functionsOf<Loaded extends object>(load: () => Promise<Loaded>) {
  const functions = eachOf(
    (name) =>
      async (...given: readonly unknown[]) =>
        ((await load()) as Functions)[name]?.(...given),
  );
  return functions as { readonly [Name in keyof Loaded]: Asynchronous<Loaded[Name]> };
}

type ExitCodes = Pick<typeof import('./exit-code-for-error.js'), 'exitCodeForError'>;

/**
 * Returns a function for the commands of a module, as {@link functionsOf}. Errors become lines on standard error and an exit code.
 *
 * @param loadExitCodes Called when a command fails, because the exit codes need each library whose errors they know.
 */
export function commandsWith(loadExitCodes: () => Promise<ExitCodes>) {
  return function commandsOf<Loaded extends object>(load: () => Promise<Loaded>) {
    const functions = functionsOf(load) as Commands;
    const commands = eachOf((name) => guard(functions[name] as Commands['name'], loadExitCodes));
    return commands as { readonly [Name in keyof Loaded]: Guarded<Loaded[Name]> };
  };
}

/** Makes members when they are read, because the names of a module are unknown until it is loaded. */
function eachOf(make: (name: string) => unknown): object {
  return new Proxy({}, { get: (_members, name) => make(String(name)) });
}

interface GuardedOptions extends GivenOptions {
  readonly debug: boolean;
}

/** A `UsageError` passes through to the parser. */
function guard(
  command: Commands['name'],
  loadExitCodes: () => Promise<ExitCodes>,
): CommandHandler<GuardedOptions> {
  return async (options, surroundings) => {
    try {
      return await finishCommand(await command(options, surroundings), surroundings.show);
    } catch (error) {
      if (isUsageError(error)) throw error;
      writeLines(withGivenOptions(messageOf(error), options));
      if (options.debug && error instanceof Error) writeLines(error.stack ?? '', '');
      return (await loadExitCodes()).exitCodeForError(error);
    }
  };
}

/** Escapes each line, which may contain untrusted text. */
function writeLines(text: string, prefix = 'wins: '): void {
  const lines = text.split('\n').map((line) => escapeText(line));
  process.stderr.write(`${prefix}${lines.join('\n')}\n`);
}
