import type { CommandSurroundings } from '@wins/base';
import type { Completed, GLOBAL_OPTIONS, Options, ValuesOf } from './option.js';

interface Node {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Not shown in help or completions. */
  readonly isHidden?: boolean;
  readonly summary: string;
  readonly details?: string;
  /** Options of the command; for a group, options of all commands below it. */
  readonly options?: Options;
  /** Page in docs/. */
  readonly page: string;
  readonly environment?: readonly (readonly [string, string])[];
  /** Example command lines without `wins`, each with its description. */
  readonly examples?: readonly (readonly [string, string])[];
}

export interface Group extends Node {
  readonly commands: readonly (Group | Command)[];
}

/** A word without an option. The handler receives it under this name, and a list of words under its plural. */
interface Positional {
  readonly name: string;
  readonly describe: string;
  readonly isOptional?: true;
  /** Several words may be given. */
  readonly isList?: true;
  readonly completes?: Completed;
  readonly choices?: readonly string[];
}

type WordsOf<Word> = Word extends { readonly name: infer Name extends string }
  ? Word extends { readonly isList: true }
    ? { readonly [Key in `${Name}s`]: readonly string[] }
    : {
        readonly [Key in Name]: Word extends { readonly isOptional: true }
          ? string | undefined
          : string;
      }
  : unknown;

type Handler<Values> = (values: Values, surroundings: CommandSurroundings) => Promise<number>;

type HandlerOf<Values> = Handler<Values> | Promise<Handler<Values>>;

export interface Command extends Node {
  readonly positional?: Positional;
  /** Placeholder in the usage line for the words after `--`. If it is absent, words after `--` are read like any others. */
  readonly rest?: string;
  /** The exit code after an invalid command line. Default: 64. */
  readonly usageExitCode?: number;
  /** @throws UsageError for options that exclude each other. */
  readonly check?: (values: Readonly<Record<string, unknown>>) => void;
  /** Loads the handler, which receives the values of options, of the positional word, and in `rest` the words after `--`. */
  readonly handler: () => HandlerOf<never>;
}

export interface GlobalValues extends ValuesOf<Pick<typeof GLOBAL_OPTIONS, 'debug' | 'quiet'>> {
  /** Words after `--`. */
  readonly rest?: readonly string[] | undefined;
}

/** The handler receives the values of its own options, its group's `Inherited` options, and the global options. */
export function command<
  Own extends Options,
  Inherited extends Options = Options,
  const Word extends Positional | undefined = undefined,
>(
  node: Omit<Command, 'handler' | 'options' | 'positional'> & {
    readonly positional?: Word;
    readonly options: Own;
    readonly inherits?: Inherited;
    readonly handler: () => HandlerOf<
      ValuesOf<Own> & ValuesOf<Inherited> & WordsOf<Word> & GlobalValues
    >;
  },
): Command {
  return node as Command;
}

export function isGroup(node: Group | Command): node is Group {
  return 'commands' in node;
}
