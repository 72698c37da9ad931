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

export interface Given<Word = string | undefined> {
  /** Undefined when the positional word is optional and absent. */
  readonly word: Word;
  /** All positional words; several only where the command takes them. */
  readonly words: readonly string[];
  /** Words after `--`. */
  readonly rest: readonly string[] | undefined;
}

export interface Command extends Node {
  readonly positional?: {
    readonly name: string;
    readonly describe: string;
    readonly isOptional?: true;
    /** Several words may be given. */
    readonly isList?: true;
    readonly completes?: Completed;
    readonly choices?: readonly string[];
  };
  /** Placeholder in the usage line for the words after `--`. If it is absent, words after `--` are read like any others. */
  readonly rest?: string;
  /** The exit code after an invalid command line. Default: 64. */
  readonly usageExitCode?: number;
  /** @throws UsageError for options that exclude each other. */
  readonly check?: (values: Readonly<Record<string, unknown>>) => void;
  /** Declared as a method, so that a handler may declare a narrower type for its own options. */
  run(
    values: Readonly<Record<string, unknown>>,
    given: Given,
    surroundings: CommandSurroundings,
  ): Promise<number>;
}

export type GlobalValues = ValuesOf<Pick<typeof GLOBAL_OPTIONS, 'debug' | 'quiet'>>;

/** The handler receives the values of its own options, its group's `Inherited` options, and the global options. */
export function command<
  Own extends Options,
  Inherited extends Options = Options,
  const Positional extends NonNullable<Command['positional']> = NonNullable<
    Command['positional']
  > & {
    readonly isOptional: true;
  },
>(
  node: Omit<Command, 'run' | 'options' | 'positional'> & {
    readonly positional?: Positional;
    readonly options: Own;
    readonly inherits?: Inherited;
    readonly run: (
      values: ValuesOf<Own> & ValuesOf<Inherited> & GlobalValues,
      given: Given<Positional extends { readonly isOptional: true } ? string | undefined : string>,
      surroundings: CommandSurroundings,
    ) => Promise<number>;
  },
): Command {
  return node;
}

export function isGroup(node: Group | Command): node is Group {
  return 'commands' in node;
}
