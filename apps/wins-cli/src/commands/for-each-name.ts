import { messageOf } from '@wins/base';
import { CommandError } from '../command-error.js';

/**
 * Does a task for each name in turn, also after a failure.
 *
 * @throws CommandError with all failures, and the exit code of the first.
 */
export async function forEachName(
  names: readonly string[],
  task: (name: string) => Promise<unknown>,
): Promise<void> {
  const failures: unknown[] = [];
  for (const name of new Set(names))
    await task(name).catch((error: unknown) => failures.push(error));
  const [first] = failures;
  if (failures.length < 2) {
    if (first !== undefined) throw first;
    return;
  }
  const exitCode = first instanceof CommandError ? first.exitCode : undefined;
  throw new CommandError(failures.map(messageOf).join('; '), exitCode, { cause: first });
}
