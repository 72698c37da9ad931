/**
 * `wins srv` and `wins doctor`: the daemon and what belongs to it.
 */
import { commandLine } from './command-line.js';
import { exitCodeOf } from './service/exit-code-of.js';
import { EXIT } from './exit-codes.js';
import { printable } from './printable.js';

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
    await commandLine(argv, (code) => {
      exitCode = code;
    }).parseAsync();
    return exitCode;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`wins: ${message.split('\n').map(printable).join('\n')}\n`);
    if (argv.includes('--debug') && error instanceof Error)
      process.stderr.write(`${error.stack}\n`);
    return exitCodeOf(error);
  }
}
