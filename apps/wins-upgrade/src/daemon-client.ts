import { resolvePipePath } from '@wins/pipe-transport';
import type { SystemParts } from '@wins/service-upgrade';
import {
  createWinsClient,
  routeGrpcLog,
  WinsClientError,
  type WinsClient,
  type WinsClientOptions,
} from '@wins/wins-api';

/** How long a daemon may take to list its runs, in milliseconds. */
const RUNS_MS = 5000;

/** Gives what connects to a pipe and judges who serves it: is it the service? */
export type DialPipe = (pipe: string) => NonNullable<WinsClientOptions['dial']>;

/** Calls to daemons. */
export interface Asking {
  readonly clientName: 'wins-install' | 'wins-upgrade';
  /** Default: any server is asked. */
  readonly dialOf?: DialPipe | undefined;
}

/** A client of the daemon on a pipe, over a connection of its own: it judges the process that serves the pipe now. */
export function daemonClient(
  pipe: string,
  connectTimeoutMs: number,
  { clientName, dialOf }: Asking,
): WinsClient {
  const dial = dialOf?.(pipe);
  const { address } = resolvePipePath(pipe);
  return createWinsClient({ address, connectTimeoutMs, clientName, ...(dial && { dial }) });
}

/** Makes the ports by which an upgrade asks daemons; each question connects anew. */
export function askDaemons(dialOf?: DialPipe): Required<Pick<SystemParts, 'probe' | 'runsOf'>> {
  // What gRPC logs may hold text of the server, which could be any process; the answers say what is wrong with the daemon.
  routeGrpcLog(() => undefined);
  const ask = async <T>(
    pipe: string,
    limitMs: number,
    questions: (client: WinsClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> => {
    await using client = daemonClient(pipe, limitMs, { clientName: 'wins-upgrade', dialOf });
    try {
      return await questions(client, AbortSignal.timeout(limitMs));
    } catch (error) {
      if (error instanceof WinsClientError) return undefined;
      throw error;
    }
  };
  return {
    probe: (pipe, limitMs) =>
      ask(pipe, limitMs, async (client, signal) => {
        const { version, checksum } = await client.info({ signal });
        const serving = await client.isServing({ signal }).catch((error: unknown) => {
          if (error instanceof WinsClientError && error.code === 'unimplemented') return undefined;
          throw error;
        });
        return { version, sha1: checksum.toLowerCase(), serving };
      }),
    runsOf: (pipe) =>
      ask(pipe, RUNS_MS, async (client, signal) => {
        const runs = await client.listProcesses({ signal });
        // This process may be a run itself.
        const others = runs.filter(({ pid }) => pid !== process.pid);
        const namesOf = (outlives: boolean): string[] =>
          others.filter((run) => run.outlivesDaemon === outlives).map(({ name }) => name);
        return { carriedOver: namesOf(true), ended: namesOf(false) };
      }),
  };
}
