/**
 * `wins srv` and `wins doctor`: the daemon and what belongs to it.
 */
import { escapeText, EXIT, messageOf } from '@wins/wins-program';
import { exitCodeForError } from './exit-code-for-error.js';
import { serverCommands } from './server-commands.js';

/**
 * Runs one command.
 *
 * @param argv - Words after `wins`.
 * @returns The exit code, one of `EXIT.server` or `EXIT.doctor`.
 */
export async function run(argv: readonly string[]): Promise<number> {
  // A reader that leaves before the end, as `head` does, is no failure.
  process.stdout.on('error', () => undefined);
  let exitCode: number = EXIT.server.ok;
  try {
    await serverCommands(argv, (code) => {
      exitCode = code;
    }).parseAsync();
    return exitCode;
  } catch (error) {
    process.stderr.write(
      `wins: ${messageOf(error)
        .split('\n')
        .map((line) => escapeText(line))
        .join('\n')}\n`,
    );
    if (argv.includes('--debug') && error instanceof Error)
      process.stderr.write(`${error.stack}\n`);
    return exitCodeForError(error);
  }
}
