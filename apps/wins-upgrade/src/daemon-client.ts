import { resolvePipePath } from '@wins/pipe-transport';
import type { ProbeDaemon } from '@wins/service-upgrade';
import {
  createWinsClient,
  routeGrpcLog,
  WinsClientError,
  type WinsClient,
  type WinsClientOptions,
} from '@wins/wins-api';

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

/** Makes a probe; each one connects anew. */
export function createDaemonProbe(dialOf?: DialPipe): ProbeDaemon {
  // What gRPC logs may hold text of the server, which could be any process; the answers say what is wrong with the daemon.
  routeGrpcLog(() => undefined);
  return async (pipe, limitMs) => {
    await using client = daemonClient(pipe, limitMs, { clientName: 'wins-upgrade', dialOf });
    const signal = AbortSignal.timeout(limitMs);
    try {
      const { version, checksum } = await client.info({ signal });
      const serving = await client.isServing({ signal }).catch((error: unknown) => {
        if (error instanceof WinsClientError && error.code === 'unimplemented') return undefined;
        throw error;
      });
      return { version, sha1: checksum.toLowerCase(), serving };
    } catch (error) {
      if (error instanceof WinsClientError) return undefined;
      throw error;
    }
  };
}
