/** The result of a command, in each form that `--output` may request. */
export interface Answer {
  /** Value for programs, printed as JSON or YAML. */
  readonly value: unknown;
  /** Columns for people. */
  readonly table?: {
    readonly headings: readonly string[];
    readonly rows: readonly (readonly string[])[];
  };
  /** Text for people, ready to print: untrusted text in it is already escaped. */
  readonly text?: string;
  /** Names for scripts to use as further input, one per line. */
  readonly names?: readonly string[];
  /** Omit the line feed after JSON when stdout is a pipe, as the Go client does. Default: false. */
  readonly isAsOriginal?: boolean;
  /** Indent JSON for people, even when the output is a file. Default: false. */
  readonly isForReaders?: boolean;
  /** One answer of a series; each answer is one line of JSON or one YAML document. Default: false. */
  readonly isOneOfMany?: boolean;
  /** Replaces the previous answer: a terminal redraws it, and other outputs append it to a series. Default: false. */
  readonly isRenewed?: boolean;
  /** Exit code of the command with this answer. Default: 0. */
  readonly exitCode?: number;
}

/** Prints an answer in the requested form. Resolves to false when the reader of the output has gone, so that the command can stop. */
export type Show = (answer: Answer) => Promise<boolean>;

/** Dependencies of a command, apart from its options. */
export interface CommandSurroundings {
  readonly show: Show;
}

/** Runs a command and returns the exit code, or an answer to print. */
export type CommandHandler<Options, Result extends number | Answer = number> = (
  options: Options,
  surroundings: CommandSurroundings,
) => Promise<Result>;

/** Prints the answer of a command, if it has one; returns the exit code. */
export async function finishCommand(result: number | Answer, show: Show): Promise<number> {
  if (typeof result === 'number') return result;
  await show(result);
  return result.exitCode ?? 0;
}
