/** The answer of a command, in each form that `--output` may request. */
export interface Answer {
  /** For programs: JSON and YAML. */
  readonly value: unknown;
  /** For people, in columns. */
  readonly table?: {
    readonly headings: readonly string[];
    readonly rows: readonly (readonly string[])[];
  };
  /** For people, as it is to be printed: foreign text in it is escaped already. */
  readonly text?: string;
  /** The names that a script continues with, one in each line. */
  readonly names?: readonly string[];
  /** Whether its JSON has no line feed at its end in a pipe, as that of the original's client. Default: no. */
  readonly isAsOriginal?: boolean;
  /** Whether its JSON is to be read by people, also in a file. Default: no. */
  readonly isForReaders?: boolean;
  /** Whether it is one of many, each of which is a line of JSON or a document of YAML. Default: no. */
  readonly isOneOfMany?: boolean;
  /** Whether it replaces the answer before it: drawn over that at a terminal, one of many elsewhere. Default: no. */
  readonly isRenewed?: boolean;
}

/** Prints an answer in the form that was asked for. Gives false when its reader has gone, who needs no more. */
export type Show = (answer: Answer) => Promise<boolean>;

/** The surroundings of a command, beside its options. */
export interface CommandSurroundings {
  readonly show: Show;
}

/** Does what a command is there for, and gives the exit code. */
export type CommandHandler<Options> = (
  options: Options,
  surroundings: CommandSurroundings,
) => Promise<number>;
