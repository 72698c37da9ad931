import { quoteText } from '@wins/wins-program';
import { WindowsError } from '../windows-error.js';

/** With the NUL at its end, a command line has at most 32,767 UTF-16 units. */
const MAX_CHARACTERS = 32_766;

/**
 * Writes a command line from which `CommandLineToArgvW` and the C runtimes read back exactly `argv0` and `args`. Pure.
 *
 * @param argv0 what the program sees as its own name; other rules hold for it, by which it can hold no quotation mark.
 * @throws WindowsError `invalidArgument` for NUL, an empty `argv0` or one with a quotation mark, or more than 32,766 UTF-16 units in all.
 */
export function windowsCommandLine(argv0: string, args: readonly string[]): string {
  const tried = `wrote the command line of ${quoteText(argv0, { maxLength: 300 })}`;
  const refuse = (found: string) => new WindowsError('invalidArgument', `${tried}: ${found}`);
  const tooLong = (length: number) =>
    refuse(`it has ${length} characters; wanted at most ${MAX_CHARACTERS}`);
  // Before anything is built of it, because a client may send far more.
  const least = args.reduce((sum, argument) => sum + argument.length + 1, argv0.length);
  if (least > MAX_CHARACTERS) throw tooLong(least);
  if (argv0 === '') throw refuse('the name of the program is empty');
  if (argv0.includes('"')) throw refuse('the name of the program holds a quotation mark');
  const line = [`"${argv0}"`, ...args.map(quoted)].join(' ');
  if (line.includes('\0')) throw refuse('it holds NUL');
  if (line.length > MAX_CHARACTERS) throw tooLong(line.length);
  return line;
}

// Backslashes mean themselves but before a quotation mark, the closing one among them, where two mean one.
function quoted(argument: string): string {
  if (!/[\s"]/.test(argument) && argument !== '') return argument;
  const parts = argument.split('"').map((part) => part + '\\'.repeat(backslashesAtEnd(part)));
  return `"${parts.join('\\"')}"`;
}

function backslashesAtEnd(text: string): number {
  let start = text.length;
  while (text[start - 1] === '\\') start -= 1;
  return text.length - start;
}
