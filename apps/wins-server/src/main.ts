/**
 * `wins srv` and `wins doctor`: the daemon and what belongs to it.
 */
import { EXIT, exitCodeForError } from './exit-codes.js';
import { printable } from './printable.js';
import { serverCommands } from './server-commands.js';

/**
 * Runs one command.
 *
 * @param argv - Words after `wins`.
 * @returns The exit code, one of {@link EXIT}.
 */
export async function run(argv: readonly string[]): Promise<number> {
  // A reader that leaves before the end, as `head` does, is no failure.
  process.stdout.on('error', () => undefined);
  let exitCode: number = EXIT.ok;
  try {
    await serverCommands(argv, (code) => {
      exitCode = code;
    }).parseAsync();
    return exitCode;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`wins: ${message.split('\n').map(printable).join('\n')}\n`);
    if (argv.includes('--debug') && error instanceof Error)
      process.stderr.write(`${error.stack}\n`);
    return exitCodeForError(error);
  }
}
