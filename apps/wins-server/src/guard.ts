import { escapeText, isUsageError, messageOf, type CommandSurroundings } from '@wins/base';
import { exitCodeForError } from './exit-code-for-error.js';

type Asynchronous<Loaded> = Loaded extends (...given: infer Given) => Promise<infer Result>
  ? (...given: Given) => Promise<Result>
  : never;

/** A command as the reader of the command line calls it. */
type Guarded<Loaded> = Loaded extends (options: infer Options, ...more: never) => unknown
  ? (
      options: Options & { readonly debug: boolean },
      surroundings: CommandSurroundings,
    ) => Promise<number>
  : never;

/** Makes a function of the one of that name in what is loaded when it is called. */
export function later<Loaded, Name extends keyof Loaded>(
  load: () => Promise<Loaded>,
  name: Name,
): Asynchronous<Loaded[Name]> {
  const call = async (...given: readonly unknown[]): Promise<unknown> =>
    ((await load())[name] as typeof call)(...given);
  return call as Asynchronous<Loaded[Name]>;
}

/**
 * Makes a command of a function that is loaded when it runs: what it throws becomes lines on standard error and an exit code. Only
 * a `UsageError` is left to the caller that read the command line.
 */
export function guard<Loaded, Name extends keyof Loaded>(
  load: () => Promise<Loaded>,
  name: Name,
): Guarded<Loaded[Name]> {
  const command = later(load, name) as typeof run;
  const run = async (options: { readonly debug: boolean }, surroundings: CommandSurroundings) => {
    try {
      return await command(options, surroundings);
    } catch (error) {
      if (isUsageError(error)) throw error;
      writeLines(messageOf(error));
      if (options.debug && error instanceof Error) writeLines(error.stack ?? '', '');
      return exitCodeForError(error);
    }
  };
  return run as Guarded<Loaded[Name]>;
}

/** Only the line feeds are ours: each line may repeat foreign text. */
function writeLines(text: string, prefix = 'wins: '): void {
  const lines = text.split('\n').map((line) => escapeText(line));
  process.stderr.write(`${prefix}${lines.join('\n')}\n`);
}
