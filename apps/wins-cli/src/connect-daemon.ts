import { PipeError, resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, WinsClientError, type WinsClient } from '@wins/wins-api';
import { hostname } from 'node:os';
import { CommandError } from './command-error.js';
import { EXIT } from './exit-codes.js';
import { connectTrustedPipe } from './trusted-pipe.js';

/** A node whose cores are all busy may take its time; a daemon that is not there is told at once. */
const CONNECT_TIMEOUT_MS = 60_000;

/** Where the daemon is and how long to wait until it is there. */
export interface DaemonAddress {
  /** Name or path of the daemon's pipe. */
  readonly server: string;
  /** How long to wait for a pipe that does not exist yet. Default 0: not at all. */
  readonly waitTimeoutMs: number;
}

/**
 * Runs a task with a client of the daemon and closes the client, however the task ends.
 *
 * The pipe itself is asked first: it waits while it is busy, or absent if told to, and knows why it
 * cannot be reached. gRPC would neither wait nor keep more than a text.
 */
export async function withDaemon<T>(
  address: DaemonAddress,
  task: (client: WinsClient) => Promise<T>,
): Promise<T> {
  try {
    const { server, waitTimeoutMs } = address;
    (await connectTrustedPipe(server, { waitTimeoutMs })).destroy();
    const client = createWinsClient({
      address: resolvePipePath(server).address,
      clientName: `${hostname()}/${process.pid}`,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
      ...(process.platform === 'win32' && { verifyServer: () => connectTrustedPipe(server) }),
    });
    try {
      return await task(client);
    } finally {
      await client.close();
    }
  } catch (error) {
    throw explain(error, address);
  }
}

/** The one line for people and the exit code, for whatever a library said. */
function explain(error: unknown, { server }: DaemonAddress): unknown {
  if (error instanceof PipeError) return pipeFailure(error);
  if (!(error instanceof WinsClientError)) return error;
  const { details } = error;
  const failure = (message: string, exitCode: number = EXIT.failed) =>
    new CommandError(message, exitCode, { cause: error });
  switch (error.code) {
    case 'unavailable':
      return failure(
        error.connectionLost
          ? `the connection to the daemon on pipe "${server}" was lost: ${details}; look at the daemon's log`
          : `the daemon on pipe "${server}" does not answer: ${details}`,
      );
    case 'refused':
      return failure(`the daemon refused: ${details}`, EXIT.refused);
    case 'notFound':
      return failure(details, EXIT.notFound);
    case 'unimplemented':
      return failure(
        `the daemon on pipe "${server}" does not know this call: ${details}; it may be an older release`,
      );
    default:
      return failure(details);
  }
}

function pipeFailure(error: PipeError): CommandError {
  const advice = error.code === 'notFound' ? ' (--wait-timeout waits for it)' : '';
  return new CommandError(`${error.message}${advice}`, EXIT.failed, { cause: error });
}
