/**
 * `wins cli`: talks to the daemon from inside a container.
 */
import { escapeText, EXIT, messageOf } from '@wins/wins-program';
import { clientCommands } from './client-commands.js';
import { CommandError } from './command-error.js';
import { OutputFailure } from './output-failure.js';

/**
 * Runs one command.
 *
 * @param argv - Words after `wins`, in the style of GNU: `--name=value`.
 * @returns The exit code: the process's own for `prc run`, else one of {@link EXIT}.
 */
export async function run(argv: readonly string[]): Promise<number> {
  // A reader that has gone (wins … | head) is no failure; writers look at the stream themselves.
  const failure = new OutputFailure(process.stdout);
  process.stderr.on('error', () => undefined);
  let exitCode: number = EXIT.client.ok;
  try {
    await clientCommands(argv, (code) => {
      exitCode = code;
    }).parseAsync();
    const error = failure.found;
    if (error === undefined) return exitCode;
    throw (await import('./output-error.js')).outputError('to standard output', error);
  } catch (error) {
    if (!isSet(argv, 'quiet')) {
      process.stderr.write(`wins: ${escapeText(messageOf(error))}\n`);
      if (isSet(argv, 'debug') && error instanceof Error) {
        for (const line of (error.stack ?? '').split('\n'))
          process.stderr.write(`${escapeText(line)}\n`);
      }
    }
    return error instanceof CommandError ? error.exitCode : EXIT.client.failed;
  }
}

/** Whether a switch is among the words for `wins`, which may not have been understood. */
function isSet(argv: readonly string[], name: string): boolean {
  const end = argv.indexOf('--');
  const ours = end === -1 ? argv : argv.slice(0, end);
  return ours.includes(`--${name}`) || ours.includes(`--${name}=true`);
}
