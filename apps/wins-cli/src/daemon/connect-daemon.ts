import { adminPipeOf, EXIT, formatDuration } from '@wins/base';
import { PipeError, resolvePipePath } from '@wins/pipe-transport';
import {
  createWinsClient,
  routeGrpcLog,
  WinsClientError,
  type CallEvent,
  type WinsClient,
  type WinsClientOptions,
} from '@wins/wins-api';
import { setTimeout as delay } from 'node:timers/promises';
import { ClientLog, type ClientLogOptions } from '../client-log.js';
import { CommandError } from '../command-error.js';
import { showProgress } from '../progress.js';
import { clientName } from './client-label.js';
import { ASK_DOCTOR, connectTrustedPipe, pipeFailure } from './trusted-pipe.js';

/** Delay between attempts while a pipe is served but accepts no call. */
const AGAIN_DELAY_MS = 200;
/** Calls about a process that was already started. An error of these calls must not start the process again. */
const FOLLOWING: ReadonlySet<string> = new Set(['Wait', 'KeepAlive']);

const FROZEN = `it may be frozen or busy. Wait longer with --timeout, or ${ASK_DOCTOR}`;
const TELL_AFTER_MS = 2000;

/** Connect time-out. A working daemon accepts within milliseconds, on a fully loaded host within seconds. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** Longer than any answer takes. The slowest call, a stop, takes a 10 s grace period and a forced end. */
const ANSWER_TIMEOUT_MS = 30_000;

export interface DaemonOptions extends ClientLogOptions {
  /** Name or path of the pipe. */
  readonly server: string;
  /** Time to wait for a pipe that does not exist yet, or for the next daemon while one shuts down. 0: no waiting. */
  readonly 'wait-timeout': number;
  /** Time limit for the HTTP/2 handshake on a served pipe, and for an answer; undefined when not given. */
  readonly timeout?: number | undefined;
  readonly quiet: boolean;
}

/** Limits for a task that does its own waiting. They replace the limits in the options. With them, `withDaemon` shows no progress. */
export interface Patience {
  readonly waitTimeoutMs: number;
  /** Default: no limit. */
  readonly answerTimeoutMs?: number;
}

/** Task for a client. A long task reports when a daemon serves it, and when it waits for the next one; meanwhile a progress line is shown. */
export type Task<T> = (
  client: WinsClient,
  onDaemonChange: (state: 'serving' | 'gone') => void,
) => Promise<T>;

/**
 * Repeats the task until the daemon accepts the task's first call, or the time to wait is over.
 *
 * Between attempts, `connectTrustedPipe` waits, because it knows whether a pipe is busy or absent, and why it cannot be reached.
 */
export async function withDaemon<T>(options: DaemonOptions, task: Task<T>, patience?: Patience) {
  const { server, timeout, quiet } = options;
  const timeoutMs = timeout ?? CONNECT_TIMEOUT_MS;
  const { waitTimeoutMs, answerTimeoutMs } = patience ?? {
    waitTimeoutMs: options['wait-timeout'],
    answerTimeoutMs: timeout ?? ANSWER_TIMEOUT_MS,
  };
  const log = new ClientLog(options);
  // Fails at once for an invalid pipe name instead of waiting for it.
  const pipe = resolvePipePath(server).address;
  const deadline = performance.now() + waitTimeoutMs;
  // Without this, grpc-js would print text from the other end of the pipe unescaped.
  routeGrpcLog((line) => process.stderr.write(`wins: gRPC: ${line}\n`));
  const leftMs = (): number => Math.max(0, Math.ceil(deadline - performance.now()));
  const showWaiting = (): Disposable =>
    showProgress(`waiting for the daemon on pipe "${server}"`, {
      afterMs: TELL_AFTER_MS,
      quiet: quiet || patience !== undefined,
    });
  let waiting = showWaiting();
  const onDaemonChange = (state: 'serving' | 'gone'): void => {
    waiting[Symbol.dispose]();
    if (state === 'gone') waiting = showWaiting();
  };
  const clientOptions = {
    address: pipe,
    dial: (signal: AbortSignal) => connectTrustedPipe(server, { timeoutMs, signal }),
    clientName: clientName(),
    connectTimeoutMs: timeoutMs,
    ...(answerTimeoutMs !== undefined && { answerTimeoutMs }),
    ...(log.isDebug && { onCallEvent: traceCalls(log, pipe) }),
  };
  try {
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await withClient(clientOptions, (client) => task(client, onDaemonChange));
      } catch (error) {
        // Even when no time is left, a busy or absent pipe gets a second attempt; a daemon that is shutting down or silent does not.
        const mayTryAgain = leftMs() > 0 || (attempt === 0 && !isEnding(error) && !isSilent(error));
        if (!isNotTaken(error) || !mayTryAgain) throw error;
      }
      log.debug('waiting for the pipe', { pipe: server, leftMs: leftMs() });
      (await connectTrustedPipe(server, { timeoutMs, waitTimeoutMs: leftMs() })).destroy();
      if (attempt > 0) await delay(Math.min(AGAIN_DELAY_MS, leftMs()));
    }
  } catch (error) {
    throw explain(error, { server, timeoutMs, answerTimeoutMs });
  } finally {
    waiting[Symbol.dispose]();
  }
}

/** Uses the administrators' pipe, which recognises administrators in any session. If it is absent, denied or too old, uses the main pipe. */
export async function withDaemonOfAdministrators<T>(options: DaemonOptions, task: Task<T>) {
  try {
    return await withDaemon(onAdminPipe(options), task);
  } catch (error) {
    if (!isOfOthers(error)) throw error;
    return await withDaemon(options, task);
  }
}

/**
 * Performs a task that concerns a single run. Uses the main pipe first, because it admits more clients than the administrators' pipe. If the main
 * pipe does not list the run, uses the administrators' pipe. There, an administrator in any Windows session sees the runs of other clients.
 */
export async function withDaemonOfRun<T>(options: DaemonOptions, task: Task<T>): Promise<T> {
  try {
    return await withDaemon(options, task);
  } catch (error) {
    if (!(error instanceof CommandError) || error.exitCode !== EXIT.client.notFound) throw error;
    return await withDaemon(onAdminPipe(options), task).catch((cause: unknown) => {
      throw isOfOthers(cause) ? error : cause;
    });
  }
}

function onAdminPipe(options: DaemonOptions): DaemonOptions {
  return { ...options, server: adminPipeOf(options.server), 'wait-timeout': 0 };
}

/**
 * True if the administrators' pipe is not for this client: the pipe is absent, it denies access, or its daemon does not know the call. False for any
 * other error, for example if the pipe's server is not trusted.
 */
function isOfOthers(error: unknown): boolean {
  const cause = error instanceof CommandError ? error.cause : undefined;
  if (cause instanceof WinsClientError) return cause.code === 'unimplemented';
  return cause instanceof PipeError && ['notFound', 'accessDenied'].includes(cause.code);
}

/** Closes the client once the command has printed its output, unless the process exits first. */
async function withClient<T>(options: WinsClientOptions, task: (client: WinsClient) => Promise<T>) {
  const client = createWinsClient(options);
  try {
    return await task(client);
  } finally {
    setImmediate(() => void client.close());
  }
}

/** True when the daemon refused the call while shutting down, or there was no connection. */
function isNotTaken(error: unknown): boolean {
  return (
    error instanceof WinsClientError &&
    error.code === 'unavailable' &&
    !error.isConnectionLost &&
    !FOLLOWING.has(error.method)
  );
}

function isEnding(error: unknown): boolean {
  return error instanceof WinsClientError && error.reason === 'shuttingDown';
}

/** True if the server of the pipe sent nothing in time. All other `unavailable` errors, also for a lost connection, have a gRPC code. */
function isSilent(error: unknown): boolean {
  return (
    error instanceof WinsClientError &&
    error.code === 'unavailable' &&
    !error.isConnectionLost &&
    error.grpcCode === undefined
  );
}

interface Asked {
  readonly server: string;
  readonly timeoutMs: number;
  readonly answerTimeoutMs: number | undefined;
}

function explain(error: unknown, asked: Asked): unknown {
  if (error instanceof PipeError) return pipeFailure(error);
  if (!(error instanceof WinsClientError)) return error;
  const { details } = error;
  const daemon = `the daemon on pipe "${asked.server}"`;
  const failure = (message: string, exitCode: number = EXIT.client.failed) =>
    new CommandError(message, exitCode, { cause: error });
  switch (error.code) {
    case 'unavailable':
      if (isEnding(error))
        return failure(
          `${daemon} is stopping: ${details} (--wait-timeout waits for the next daemon)`,
        );
      if (error.reason !== undefined)
        return failure(`${daemon} accepts no calls now: ${details}; ${ASK_DOCTOR}`);
      if (error.isConnectionLost)
        return failure(
          `the connection to ${daemon} was lost before the answer. See the daemon's log, or ${ASK_DOCTOR}`,
        );
      return failure(
        isSilent(error)
          ? `${daemon} ${silence(asked.timeoutMs)} although it accepted the connection; ${FROZEN}`
          : `${daemon} does not answer: ${details}; is it the right pipe? ${ASK_DOCTOR}`,
      );
    case 'deadlineExceeded':
      return failure(
        error.grpcCode === undefined && asked.answerTimeoutMs !== undefined
          ? `${daemon} ${silence(asked.answerTimeoutMs)} to ${error.method}; ${FROZEN}`
          : `${daemon} cancelled the call: ${details}; ${ASK_DOCTOR}`,
      );
    case 'refused':
      // The prefix "invalid path" is only for Go clients, which recognise a refusal by it.
      return failure(
        `the daemon refused: ${error.reason === undefined ? details : details.replace(/^invalid path: /, '')}`,
        EXIT.client.refused,
      );
    case 'notFound':
      return failure(details, EXIT.client.notFound);
    case 'unimplemented':
      return failure(`${daemon} does not know this call: ${details}; it may be an older release`);
    case 'internal':
      // A failure with a reason comes with a complete message from the daemon, so nothing is added to it.
      return failure(
        error.reason === undefined ? `${daemon} failed: ${details}; see its log` : details,
      );
    default:
      return failure(details);
  }
}

function silence(timeoutMs: number): string {
  return `gave no answer within ${formatDuration(timeoutMs)}`;
}

export function traceCalls(log: ClientLog, address: string): (event: CallEvent) => void {
  return (event) => {
    switch (event.kind) {
      case 'connecting':
        log.debug('connecting', { address });
        return;
      case 'connected':
        log.debug('connected', { ms: event.ms });
        return;
      case 'called':
        log.debug(`call ${event.method}`, { call: event.call });
        return;
      case 'ended': {
        const { method, call, ms, error } = event;
        log.debug(`${error === undefined ? 'answer to' : 'no answer to'} ${method}`, {
          call,
          ms,
          error,
        });
      }
    }
  };
}
