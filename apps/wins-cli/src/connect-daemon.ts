import { connectPipe, PipeError, resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, WinsClientError, type WinsClient } from '@wins/wins-api';
import { hostname } from 'node:os';
import { CommandError } from './command-error.js';
import { EXIT } from './exit-codes.js';

/** A node whose cores are all busy may take its time; a daemon that is not there is told at once. */
const CONNECT_TIMEOUT_MS = 60_000;

/** Where the daemon is and how long to wait until it is there. */
export interface DaemonAddress {
  /** Name or path of the daemon's pipe. */
  readonly server: string;
  /** How long to wait for a pipe that does not exist yet. Default 0: not at all. */
  readonly waitTimeoutMs: number;
}

/** Runs a task with a client of the daemon and closes the client, however the task ends. */
export async function withDaemon<T>(
  address: DaemonAddress,
  task: (client: WinsClient) => Promise<T>,
): Promise<T> {
  try {
    if (address.waitTimeoutMs > 0) await probe(address);
    const client = createWinsClient({
      address: resolvePipePath(address.server).address,
      clientName: `${hostname()}/${process.pid}`,
      connectTimeoutMs: CONNECT_TIMEOUT_MS,
    });
    try {
      return await task(client);
    } finally {
      await client.close();
    }
  } catch (error) {
    throw await explain(error, address);
  }
}

async function probe(address: DaemonAddress): Promise<void> {
  const connection = await connectPipe(address.server, { waitTimeoutMs: address.waitTimeoutMs });
  connection.destroy();
}

async function explain(error: unknown, address: DaemonAddress): Promise<unknown> {
  if (error instanceof PipeError) return pipeFailure(error);
  if (!(error instanceof WinsClientError)) return error;
  switch (error.code) {
    case 'unavailable':
      if (error.connectionLost) {
        return new CommandError(
          `the connection to the daemon on pipe "${address.server}" was lost: ${error.details}; ` +
            `look at the daemon's log`,
          EXIT.failed,
          { cause: error },
        );
      }
      // gRPC keeps only a text of why it could not connect; the pipe itself knows the reason.
      try {
        await probe({ ...address, waitTimeoutMs: 0 });
      } catch (reason) {
        if (reason instanceof PipeError) return pipeFailure(reason);
      }
      return new CommandError(
        `the daemon on pipe "${address.server}" does not answer: ${error.details}`,
        EXIT.failed,
        { cause: error },
      );
    case 'refused':
      return new CommandError(`the daemon refused: ${error.details}`, EXIT.refused, {
        cause: error,
      });
    case 'notFound':
      return new CommandError(error.details, EXIT.notFound, { cause: error });
    case 'unimplemented':
      return new CommandError(
        `the daemon on pipe "${address.server}" does not know this call: ${error.details}; it may be an older release`,
        EXIT.failed,
        { cause: error },
      );
    default:
      return new CommandError(error.details, EXIT.failed, { cause: error });
  }
}

function pipeFailure(error: PipeError): CommandError {
  const advice = error.code === 'notFound' ? ' (--wait-timeout waits for it)' : '';
  return new CommandError(`${error.message}${advice}`, EXIT.failed, { cause: error });
}
