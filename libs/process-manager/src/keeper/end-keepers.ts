import type { ProcessHost, RememberedProcess } from '@wins/base';
import { Backoff } from '@wins/time';
import { GRACE_MS } from '../manager-options.js';
import type { RunFolders } from '../supervision/run-folders.js';
import type { KeeperRecord } from '../supervision/run-record.js';
import { KeeperConnection } from './keeper-connection.js';
import type { KeeperTransport } from './keeper-transport.js';

/** Grace period of a run, plus time for the keeper to record the exit. */
export const GENTLE_MS = 15_000;
/** Time limit for killed processes to disappear. */
const FORCED_MS = 10_000;
const NO_MARK = '0'.repeat(32);

/** Access to the processes, sockets and records that {@link endKeepers} needs. */
export interface EndParts {
  readonly host: ProcessHost;
  readonly transport: KeeperTransport;
  readonly folders: RunFolders;
}

/**
 * Asks the keepers to end their runs, then kills what is left. Call this only if no daemon will start again.
 *
 * @returns The number of processes that are still alive.
 */
export async function endKeepers(
  records: readonly KeeperRecord[],
  { host, transport, folders }: EndParts,
): Promise<number> {
  const gently = AbortSignal.timeout(GENTLE_MS);
  await Promise.allSettled(
    records.map(async (record) => {
      const parts = { host, transport, graceMs: GRACE_MS };
      const keeper = await KeeperConnection.open(record, parts, gently);
      await keeper.endAll(gently);
      keeper.close();
    }),
  );
  const keepers = records.map(({ keeper }): RememberedProcess => {
    const [pid, startToken = ''] = keeper.split(/:(.*)/s);
    return { mark: NO_MARK, pid: Number(pid), startToken };
  });
  const again = new Backoff({ initialMs: 20, maxMs: 200 });
  const deadline = performance.now() + FORCED_MS;
  for (;;) {
    const runs = await folders.living();
    const remembered = [
      ...keepers,
      ...runs.map(({ run: { mark }, pid, startToken }) => ({ mark, pid, startToken })),
    ];
    const left = await host.findLeftovers({ executables: [], remembered });
    if (left.length === 0 || performance.now() > deadline) return left.length;
    for (const leftover of left) await leftover.terminate('force');
    await again.wait();
  }
}
