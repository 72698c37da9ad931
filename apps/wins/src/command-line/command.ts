import type { CommandSurroundings } from '@wins/base';
import type { Completed, GLOBAL_OPTIONS, Options, ValuesOf } from './option.js';

/** Properties of every node of the tree of commands. */
interface Node {
  readonly name: string;
  readonly aliases?: readonly string[];
  /** Accepted, but shown nowhere. */
  readonly isHidden?: boolean;
  /** One sentence. */
  readonly summary: string;
  /** More than the sentence says. */
  readonly details?: string;
  /** Options of the command, or in a group those of all commands below it. */
  readonly options?: Options;
  /** Page of docs/ for further reading. */
  readonly page: string;
  /** Names and meanings. */
  readonly environment?: readonly (readonly [string, string])[];
  /** Command lines without `wins`, and what they do. */
  readonly examples?: readonly (readonly [string, string])[];
}

/** A command that only has others below it. */
export interface Group extends Node {
  readonly commands: readonly (Group | Command)[];
}

/** Input of a handler beside the values of its options. */
export interface Given<Word = string | undefined> {
  /** In the place of {@link Command.positional}; undefined for one that is optional and not there. */
  readonly word: Word;
  /** Words after `--`; undefined when nothing follows it. */
  readonly rest: readonly string[] | undefined;
}

/** A command that does something. */
export interface Command extends Node {
  /** A word after the command. */
  readonly positional?: {
    readonly name: string;
    readonly describe: string;
    readonly isOptional?: true;
    readonly completes?: Completed;
    readonly choices?: readonly string[];
  };
  /** Stands in a usage line for the words after `--`; without this they are like others. */
  readonly rest?: string;
  /** The exit code after an invalid command line. Default: 64. */
  readonly usageExitCode?: number;
  /** @throws UsageError for options that do not go together. */
  readonly check?: (values: Readonly<Record<string, unknown>>) => void;
  /** A method, so that it may want the values of its own options, which are those that it gets. */
  run(
    values: Readonly<Record<string, unknown>>,
    given: Given,
    surroundings: CommandSurroundings,
  ): Promise<number>;
}

/** The options that every command has. */
export type GlobalValues = ValuesOf<Pick<typeof GLOBAL_OPTIONS, 'debug' | 'quiet'>>;

/**
 * Makes a command; its handler gets the values of its own options, of `Inherited` ones, which a group above has, and of those that
 * every command has.
 */
export function command<
  Own extends Options,
  Inherited extends Options = Options,
  const Place extends NonNullable<Command['positional']> = NonNullable<Command['positional']> & {
    readonly isOptional: true;
  },
>(
  node: Omit<Command, 'run' | 'options' | 'positional'> & {
    readonly positional?: Place;
    readonly options: Own;
    readonly inherits?: Inherited;
    readonly run: (
      values: ValuesOf<Own> & ValuesOf<Inherited> & GlobalValues,
      given: Given<Place extends { readonly isOptional: true } ? string | undefined : string>,
      surroundings: CommandSurroundings,
    ) => Promise<number>;
  },
): Command {
  return node;
}

/** Whether a node of the tree only has others below it. */
export function isGroup(node: Group | Command): node is Group {
  return 'commands' in node;
}
