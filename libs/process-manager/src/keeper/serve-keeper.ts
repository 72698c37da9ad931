import { Keeper, type KeeperOptions } from './keeper.js';

/**
 * Keeps runs alive when their manager ends. Resolves after the last run has ended. Prints its address as the first line, for
 * {@link startKeeper}. At SIGTERM, which means a system shutdown, the runs get their grace time.
 *
 * @throws TrustedFileError, and the errors of the transport.
 */
export async function serveKeeper(options: KeeperOptions): Promise<void> {
  const keeper = new Keeper(options);
  process.on('SIGTERM', () => keeper.endAll());
  // The manager that reads this output may be gone.
  process.stdout.on('error', () => undefined);
  await keeper.listen();
  process.stdout.write(`${JSON.stringify(keeper.record)}\n`);
  await keeper.over;
  await keeper.close();
}
