import { resolvePipePath } from '@wins/pipe-transport';
import type { ProbeDaemon } from '@wins/service-upgrade';
import {
  createWinsClient,
  routeGrpcLog,
  WinsClientError,
  type WinsClientOptions,
} from '@wins/wins-api';

/** Gives what connects to a pipe and judges who serves it. */
export type DialPipe = (pipe: string) => NonNullable<WinsClientOptions['dial']>;

/**
 * Makes a probe. Each one connects anew, so that it judges the process that serves the pipe now.
 *
 * @param dialOf - Gives what connects to a pipe and judges who serves it: is it the service? Default: any server is asked.
 */
export function createDaemonProbe(dialOf?: DialPipe): ProbeDaemon {
  // What gRPC logs may hold text of the server, which could be any process; the answers say what is wrong with the daemon.
  routeGrpcLog(() => undefined);
  return async (pipe, limitMs) => {
    const dial = dialOf?.(pipe);
    const client = createWinsClient({
      address: resolvePipePath(pipe).address,
      connectTimeoutMs: limitMs,
      clientName: 'wins-upgrade',
      ...(dial && { dial }),
    });
    const signal = AbortSignal.timeout(limitMs);
    try {
      const { Version, Checksum } = await client.info({ signal });
      const serving = await client.isServing({ signal }).catch((error: unknown) => {
        if (error instanceof WinsClientError && error.code === 'unimplemented') return undefined;
        throw error;
      });
      return { version: Version, sha1: Checksum.toLowerCase(), serving };
    } catch (error) {
      if (error instanceof WinsClientError) return undefined;
      throw error;
    } finally {
      await client.close();
    }
  };
}
