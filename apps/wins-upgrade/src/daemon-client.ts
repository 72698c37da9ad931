import { resolvePipePath } from '@wins/pipe-transport';
import { UpgradeError, type SystemParts } from '@wins/service-upgrade';
import type { Abortable } from 'node:events';
import {
  createWinsClient,
  routeGrpcLog,
  WinsClientError,
  type WinsClient,
  type WinsClientOptions,
} from '@wins/wins-api';

const RUNS_MS = 5000;

export type DialPipe = (pipe: string) => NonNullable<WinsClientOptions['dial']>;

export interface Asking {
  readonly clientName: 'wins-install' | 'wins-upgrade';
  /** Default: any server is accepted. */
  readonly dialOf?: DialPipe | undefined;
}

/** Each client opens its own connection, so that `dialOf` checks the process that serves the pipe now. */
export function daemonClient(
  pipe: string,
  connectTimeoutMs: number,
  { clientName, dialOf }: Asking,
): WinsClient {
  const dial = dialOf?.(pipe);
  const { address } = resolvePipePath(pipe);
  return createWinsClient({ address, connectTimeoutMs, clientName, ...(dial && { dial }) });
}

export function askDaemons(dialOf?: DialPipe): Required<Pick<SystemParts, 'probe' | 'runsOf'>> {
  // Discard gRPC logs: they may contain text of a process that poses as the server.
  routeGrpcLog(() => undefined);
  const ask = async <T>(
    pipe: string,
    { signal, timeoutMs }: Abortable & { readonly timeoutMs: number },
    questions: (client: WinsClient, signal: AbortSignal) => Promise<T>,
  ): Promise<T | undefined> => {
    await using client = daemonClient(pipe, timeoutMs, { clientName: 'wins-upgrade', dialOf });
    const late = AbortSignal.timeout(timeoutMs);
    try {
      return await questions(client, signal === undefined ? late : AbortSignal.any([signal, late]));
    } catch (error) {
      if (signal?.aborted === true) {
        const message = `cannot ask the daemon on ${pipe}: it was aborted`;
        throw new UpgradeError('aborted', message, { cause: signal.reason });
      }
      if (error instanceof WinsClientError) return undefined;
      throw error;
    }
  };
  return {
    probe: (pipe, options) =>
      ask(pipe, options, async (client, signal) => {
        const { version, checksum } = await client.info({ signal });
        const serving = await client.isServing({ signal }).catch((error: unknown) => {
          if (error instanceof WinsClientError && error.code === 'unimplemented') return undefined;
          throw error;
        });
        return { version, sha1: checksum.toLowerCase(), serving };
      }),
    runsOf: (pipe) =>
      ask(pipe, { timeoutMs: RUNS_MS }, async (client, signal) => {
        const runs = await client.runs.list({ signal });
        // This process may be a run itself.
        const others = runs.filter(({ pid }) => pid !== process.pid);
        const namesOf = (endsWithDaemon: boolean): string[] =>
          others
            .filter(({ lifetime }) => (lifetime === 'connection') === endsWithDaemon)
            .map(({ process: name }) => name);
        return { carriedOver: namesOf(false), ended: namesOf(true) };
      }),
  };
}
