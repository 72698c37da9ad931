import { escapeText, EXIT, isUsageError, VERSION } from '@wins/wins-program';
import { isGroup, type Command, type Group } from './command.js';
import { helpWords } from './help-text.js';
import { readWords, type ReadWords } from './read-words.js';
import type { ShowAnswer } from './run-words.js';
import { WordsError } from './words-error.js';

/**
 * Runs a command line.
 *
 * @param argv - The words after `wins`, as they were typed.
 * @param showAnswer - Prints what a command answers.
 * @returns The exit code: that of the command, or one that says that the words make no sense, which a line on standard error explains.
 */
export async function runCommandLine(
  root: Group,
  argv: readonly string[],
  showAnswer: ShowAnswer,
): Promise<number> {
  let path: readonly (Group | Command)[] = [root];
  try {
    const read = readWords(root, argv);
    ({ path } = read);
    if (read.options.has('version')) {
      process.stdout.write(`rancher-wins version ${VERSION}\n`);
      return EXIT.client.ok;
    }
    if (read.options.has('help') || path.length === 1) {
      const options = new Map([['help', ['true']]]);
      return await runRead(root, { ...read, options, rest: undefined }, showAnswer);
    }
    return await runRead(root, read, showAnswer);
  } catch (error) {
    if (!isUsageError(error)) throw error;
    if (error instanceof WordsError) ({ path } = error);
    complain(error.message, path);
    const at = path.at(-1) ?? root;
    return isGroup(at) ? EXIT.client.usage : (at.usageExitCode ?? EXIT.client.usage);
  }
}

async function runRead(root: Group, read: ReadWords, showAnswer: ShowAnswer): Promise<number> {
  // Loaded when it is needed: what completes a word does without.
  return (await import('./run-words.js')).runWords(root, read, showAnswer);
}

function complain(message: string, path: readonly (Group | Command)[]): void {
  const at = path.at(-1);
  const what = at === undefined || isGroup(at) ? 'commands' : 'options';
  const end = message.endsWith('?') ? ' Run' : '; run';
  process.stderr.write(
    `wins: ${escapeText(`${message}${end} '${helpWords(path)}' for its ${what}`)}\n`,
  );
}
