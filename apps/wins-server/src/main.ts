/**
 * `wins srv` and `wins doctor`: the daemon and what belongs to it.
 */
import { ConfigError } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import { commandLine, UsageError } from './command-line.js';
import { EXIT } from './exit-codes.js';

/**
 * Runs one command.
 *
 * @param argv - Words after `wins`.
 * @returns The exit code, one of {@link EXIT}.
 */
export async function run(argv: readonly string[]): Promise<number> {
  let exitCode: number = EXIT.ok;
  try {
    await commandLine(argv, (code) => {
      exitCode = code;
    }).parseAsync();
    return exitCode;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    process.stderr.write(`wins: ${message}\n`);
    if (argv.includes('--debug') && error instanceof Error)
      process.stderr.write(`${error.stack}\n`);
    return exitCodeOf(error);
  }
}

function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return error.exitCode;
  if (error instanceof ConfigError) return EXIT.config;
  if (error instanceof PipeError) {
    return error.code === 'accessDenied' || error.code === 'securityUnavailable'
      ? EXIT.noPermission
      : EXIT.unavailable;
  }
  return EXIT.internal;
}
