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
    writeLines(messageOf(error));
    if (argv.includes('--debug') && error instanceof Error) writeLines(error.stack ?? '', '');
    return exitCodeForError(error);
  }
}

/** Only the line feeds are ours: each line may repeat foreign text. */
function writeLines(text: string, prefix = 'wins: '): void {
  const lines = text.split('\n').map((line) => escapeText(line));
  process.stderr.write(`${prefix}${lines.join('\n')}\n`);
}
