/** The result of a command, in each form that `--output` may request. */
export interface Answer {
  /** Value for programs, printed as JSON or YAML. */
  readonly value: unknown;
  readonly table?:
    | {
        readonly headings: readonly string[];
        readonly rows: readonly (readonly string[])[];
        /** Headings of columns that a narrow terminal leaves out, the first of them first. Default: none. */
        readonly drops?: readonly string[] | undefined;
      }
    | undefined;
  /** Text for people; untrusted parts are already escaped. */
  readonly text?: string | undefined;
  /** Printed one per line, for scripts. */
  readonly names?: readonly string[] | undefined;
  /** Prints JSON without a final line feed when stdout is not a terminal, like the original client in Go. */
  readonly isAsOriginal?: boolean | undefined;
  /** Indent JSON for people, even when the output is a file. */
  readonly isForReaders?: boolean | undefined;
  /** Part of a series: each answer is one line of JSON or one YAML document. */
  readonly isOneOfMany?: boolean | undefined;
  /**
   * True if this answer is an update of the previous answer. On a terminal, its text or table then replaces the previous answer.
   * JSON, YAML and redirected output are appended instead.
   */
  readonly isRenewed?: boolean | undefined;
  /** Default: 0. */
  readonly exitCode?: number | undefined;
}

/** Prints answers. Resolves to false when the reader of the output has gone; the command can then stop. */
export type Show = (...answers: readonly Answer[]) => Promise<boolean>;

/** Dependencies of a command, apart from its options. */
export interface CommandSurroundings {
  readonly show: Show;
}

/** Performs a command of the command line. Resolves with the exit code, or with an answer to print. */
export type CommandHandler<Options, Result extends number | Answer = number> = (
  options: Options,
  surroundings: CommandSurroundings,
) => Promise<Result>;

/** Prints an answer, and returns the exit code: the number itself, or the answer's `exitCode`, default 0. */
export async function finishCommand(result: number | Answer, show: Show): Promise<number> {
  if (typeof result === 'number') return result;
  await show(result);
  return result.exitCode ?? 0;
}
