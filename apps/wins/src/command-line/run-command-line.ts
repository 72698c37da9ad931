import { escapeText, EXIT, isUsageError, VERSION, type Answer, type Show } from '@wins/base';
import { isGroup, type Command, type Group } from './command.js';
import { helpWords } from './help-text.js';
import { readWords, type ReadWords, type WordPath } from './read-words.js';

/** Resolves with false when the reader has closed the stream. */
export type ShowAnswer = (answers: readonly Answer[], form: unknown) => Promise<boolean>;

export interface CommandOutput {
  readonly showAnswer: ShowAnswer;
  /** Prints the help of the last node in `path`. Loaded only when needed. */
  readonly printHelp: (path: readonly [Group, ...(Group | Command)[]]) => Promise<void>;
}

/** @returns The exit code of the command. An invalid command line gets the command's `usageExitCode`, and a line on standard error. */
export async function runCommandLine(root: Group, argv: readonly string[], output: CommandOutput) {
  const path: WordPath = [root];
  try {
    return await runRead(readWords(path, argv), output);
  } catch (error) {
    if (!isUsageError(error)) throw error;
    complain(error.message, path);
    const at = path.at(-1) ?? root;
    return isGroup(at) ? EXIT.client.usage : (at.usageExitCode ?? EXIT.client.usage);
  }
}

async function runRead(read: ReadWords, { showAnswer, printHelp }: CommandOutput): Promise<number> {
  const { path, options, values } = read;
  if (options.has('version')) {
    process.stdout.write(`rancher-wins version ${VERSION}\n`);
    return EXIT.client.ok;
  }
  const command = path.at(-1) ?? path[0];
  if (options.has('help') || isGroup(command)) {
    await printHelp(path);
    return EXIT.client.ok;
  }
  command.check?.(values);
  const show: Show = (...answers) => showAnswer(answers, values['output']);
  const handle = await command.handler();
  return handle(values as never, { show });
}

function complain(message: string, path: readonly (Group | Command)[]): void {
  const at = path.at(-1);
  const what = at === undefined || isGroup(at) ? 'commands' : 'options';
  const end = message.endsWith('?') ? ' Run' : '; run';
  process.stderr.write(
    `wins: ${escapeText(`${message}${end} '${helpWords(path)}' for its ${what}`)}\n`,
  );
}
