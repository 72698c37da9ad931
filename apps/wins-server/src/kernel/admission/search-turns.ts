import type { ClientIdentity } from '@wins/base';
import type { SpoolOptions } from '@wins/process-manager';
import type { ClientScheduler, ClientTasks } from './client-scheduler.js';
import type { Claim, Shares } from './shares.js';

/** Time until a search asks again, when too much other work waits. */
const AGAIN_MS = 50;

/**
 * Lets searches of kept output wait for each other: few run at a time, and clients take turns. The work of each is charged to its client, like the
 * reads of the client's connections.
 */
export function searchInTurn(
  client: ClientIdentity,
  searches: Pick<Shares, 'wait'>,
  scheduler: Pick<ClientScheduler, 'tasksOf'>,
): NonNullable<SpoolOptions['search']> {
  return async (signal, search) => {
    const claim = await claimOf(client, searches, signal);
    const tasks = scheduler.tasksOf(client, 'search of output');
    try {
      return await search((work) => inTurn(tasks, work, signal));
    } finally {
      tasks.close();
      claim.release();
    }
  };
}

function claimOf(
  client: ClientIdentity,
  searches: Pick<Shares, 'wait'>,
  signal: AbortSignal,
): Promise<Claim> {
  signal.throwIfAborted();
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      cancel();
      reject(signal.reason as Error);
    };
    signal.addEventListener('abort', leave, { once: true });
    const cancel = searches.wait(client, (claim) => {
      signal.removeEventListener('abort', leave);
      resolve(claim);
    });
  });
}

function inTurn(tasks: ClientTasks, work: () => void, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    // A closing scheduler drops what waits for a turn.
    const leave = (): void => reject(signal.reason as Error);
    signal.addEventListener('abort', leave, { once: true });
    // A task must not throw: what `work` throws rejects the promise.
    const run = (): void => {
      signal.removeEventListener('abort', leave);
      if (signal.aborted) return;
      const done = new Promise<void>((resolveDone) => {
        work();
        resolveDone();
      });
      resolve(done);
    };
    const ask = (): void => {
      if (!signal.aborted && !tasks.run(0, run)) setTimeout(ask, AGAIN_MS);
    };
    signal.throwIfAborted();
    ask();
  });
}
