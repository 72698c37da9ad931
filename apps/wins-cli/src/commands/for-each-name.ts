import { messageOf } from '@wins/base';
import { CommandError } from '../command-error.js';

/**
 * Does a task for each name in turn, also after a CommandError.
 *
 * @throws The failure. Of several CommandErrors, one with all messages and the exit code of the first.
 */
export async function forEachName(
  names: readonly string[],
  task: (name: string) => Promise<unknown>,
): Promise<void> {
  const failures: CommandError[] = [];
  for (const name of new Set(names))
    await task(name).catch((error: unknown) => {
      if (!(error instanceof CommandError)) throw error;
      failures.push(error);
    });
  const [first, ...others] = failures;
  if (first === undefined) return;
  if (others.length === 0) throw first;
  throw new CommandError(failures.map(messageOf).join('; '), first.exitCode, { cause: first });
}
