import { PipeError, resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, routeGrpcLog, WinsClientError, type WinsClient } from '@wins/wins-api';
import { EXIT } from '@wins/wins-program';
import { clientLabel } from './client-label.js';
import { setTimeout as delay } from 'node:timers/promises';
import { ClientLog, type ClientLogOptions } from '../client-log.js';
import { CommandError } from '../command-error.js';
import { traceCalls } from './trace-calls.js';
import { connectTrustedPipe } from './trusted-pipe.js';

/** A node whose cores are all busy may take its time; a daemon that is not there is told at once. */
const CONNECT_TIMEOUT_MS = 60_000;
/** How long a pipe that is served, but by nobody who takes a call, is left alone before it is asked again. */
const AGAIN_DELAY_MS = 200;
/** Calls about a process that was started: what they say of the daemon is no reason to start it again. */
const FOLLOWING: ReadonlySet<string> = new Set(['Wait', 'KeepAlive']);

/** Where the daemon is and how long to wait until it is there. */
export interface DaemonAddress {
  /** Name or path of the daemon's pipe. */
  readonly server: string;
  /** How long to wait for a pipe that does not exist yet, or for the next daemon while one ends. Default 0: not at all. */
  readonly waitTimeoutMs: number;
  /** Where `--debug` is followed. Default: nowhere. */
  readonly log?: ClientLog;
}

/** The options that every command has which asks the daemon. */
export interface DaemonOptions extends ClientLogOptions {
  readonly server: string;
  readonly 'wait-timeout': number;
}

/** The daemon that a command line names. */
export function daemonAddress(options: DaemonOptions): Required<DaemonAddress> {
  return {
    server: options.server,
    waitTimeoutMs: options['wait-timeout'],
    log: new ClientLog(options),
  };
}

/**
 * Runs a task with a client of the daemon and closes the client, however the task ends. The task is run again when the daemon
 * has not taken its first call, because it ends or is not there, and there is time left to wait for the next one.
 *
 * When there is no daemon the pipe itself is asked: it waits while it is busy, or absent if told to, and knows why it
 * cannot be reached. gRPC would neither wait nor keep more than a text.
 */
export async function withDaemon<T>(
  address: DaemonAddress,
  task: (client: WinsClient) => Promise<T>,
): Promise<T> {
  const { server, waitTimeoutMs, log } = address;
  // What is no name of a pipe is not waited for.
  const pipe = resolvePipePath(server).address;
  const deadline = performance.now() + waitTimeoutMs;
  const leftMs = (): number => Math.max(0, Math.ceil(deadline - performance.now()));
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await withClient(server, pipe, log, task);
      } catch (error) {
        // A pipe that was busy, or not there yet, deserves one more attempt; a daemon that ends does not.
        const mayTryAgain = leftMs() > 0 || (attempt === 0 && !isEnding(error));
        if (!isNotTaken(error) || !mayTryAgain) throw error;
      }
      log?.debug('waiting for the pipe', { pipe: server, leftMs: leftMs() });
      (await connectTrustedPipe(server, { waitTimeoutMs: leftMs() })).destroy();
      if (attempt > 0) await delay(Math.min(AGAIN_DELAY_MS, leftMs()));
    }
  } catch (error) {
    throw explain(error, address);
  }
}

async function withClient<T>(
  server: string,
  address: string,
  log: ClientLog | undefined,
  task: (client: WinsClient) => Promise<T>,
): Promise<T> {
  routeGrpcLog((line) => process.stderr.write(`wins: gRPC: ${line}\n`));
  const client = createWinsClient({
    address,
    clientName: `${clientLabel()}/${process.pid}`,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    ...(log?.isDebug === true && { onCallEvent: traceCalls(log, address) }),
    ...(process.platform === 'win32' && { dial: () => connectTrustedPipe(server) }),
  });
  try {
    return await task(client);
  } finally {
    await client.close();
  }
}

/** Whether nothing was done: the daemon refused because it ends, or there was no connection. */
function isNotTaken(error: unknown): boolean {
  return (
    error instanceof WinsClientError &&
    error.code === 'unavailable' &&
    !error.connectionLost &&
    !FOLLOWING.has(error.method)
  );
}

function isEnding(error: unknown): boolean {
  return error instanceof WinsClientError && error.reason === 'shuttingDown';
}

/** The one line for people and the exit code, for whatever a library said. */
function explain(error: unknown, { server }: DaemonAddress): unknown {
  if (error instanceof PipeError) return pipeFailure(error);
  if (!(error instanceof WinsClientError)) return error;
  const { details } = error;
  const failure = (message: string, exitCode: number = EXIT.client.failed) =>
    new CommandError(message, exitCode, { cause: error });
  switch (error.code) {
    case 'unavailable':
      if (isEnding(error)) {
        return failure(
          `the daemon on pipe "${server}" is stopping: ${details} (--wait-timeout waits for the next one)`,
        );
      }
      if (error.reason !== undefined) {
        return failure(`the daemon on pipe "${server}" accepts no calls now: ${details}`);
      }
      return failure(
        error.connectionLost
          ? `the connection to the daemon on pipe "${server}" was lost: ${details}; look at the daemon's log`
          : `the daemon on pipe "${server}" does not answer: ${details}`,
      );
    case 'refused':
      // "invalid path" is for clients of the original, which know a refusal by it.
      return failure(
        `the daemon refused: ${error.reason === undefined ? details : details.replace(/^invalid path: /, '')}`,
        EXIT.client.refused,
      );
    case 'notFound':
      return failure(details, EXIT.client.notFound);
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
  return new CommandError(`${error.message}${advice}`, EXIT.client.failed, { cause: error });
}
