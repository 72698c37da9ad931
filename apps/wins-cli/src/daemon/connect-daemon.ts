import { PipeError, resolvePipePath } from '@wins/pipe-transport';
import {
  createWinsClient,
  routeGrpcLog,
  WinsClientError,
  type WinsClient,
  type WinsClientOptions,
} from '@wins/wins-api';
import { adminPipeOf, EXIT, formatDuration } from '@wins/base';
import { clientName } from './client-label.js';
import { setTimeout as delay } from 'node:timers/promises';
import { ClientLog, type ClientLogOptions } from '../client-log.js';
import { CommandError } from '../command-error.js';
import { showProgress } from '../progress.js';
import { ASK_DOCTOR, pipeFailure } from './pipe-failure.js';
import { traceCalls } from './trace-calls.js';
import { connectTrustedPipe } from './trusted-pipe.js';

/** How long a pipe that is served, but by no one who takes a call, is left alone before it is asked again. */
const AGAIN_DELAY_MS = 200;
/** Calls about a process that was started: what they say of the daemon is no reason to start it again. */
const FOLLOWING: ReadonlySet<string> = new Set(['Wait', 'KeepAlive']);

const FROZEN = `it may be frozen or busy. Wait longer with --timeout, or ${ASK_DOCTOR}`;
/** Waiting time after which the user is informed. */
const TELL_AFTER_MS = 2000;

/** A daemon that works accepts within milliseconds, and within seconds on a host whose processors are all busy. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** More than an answer takes: that of a stop comes once the program was asked for 10 s, and made to end. */
const ANSWER_TIMEOUT_MS = 30_000;

/** The options of every command that calls the daemon, as they were read. */
export interface DaemonOptions extends ClientLogOptions {
  /** Name or path of the daemon's pipe. */
  readonly server: string;
  /** How long to wait for a pipe that does not exist yet, or for the next daemon while one ends. 0: not at all. */
  readonly 'wait-timeout': number;
  /** How long a pipe that is served may take to speak HTTP/2, and an answer to come; undefined when it was not given. */
  readonly timeout?: number | undefined;
  readonly quiet: boolean;
}

/** The limits of a task that waits by itself, in the place of those of the options: nothing on the terminal tells of it. */
export interface Patience {
  readonly waitTimeoutMs: number;
  /** Default: as long as it takes. */
  readonly answerTimeoutMs?: number;
}

/** A task for a client; it may say that it was answered, when it takes longer than that. */
export type Task<T> = (client: WinsClient, answered: () => void) => Promise<T>;

/**
 * Runs a task with a client of the daemon that is made for it, and closes the client soon after, however the task ends. The task is run
 * again when the daemon has not taken its first call, because it ends or is not there, and there is time left to wait for the next one.
 *
 * A terminal shows that the daemon is waited for, from 2 s on, until the task has ended or said that it was answered.
 *
 * When there is no daemon the pipe itself is asked: it waits while it is busy, or absent if told to, and knows why it
 * cannot be reached.
 */
export async function withDaemon<T>(
  options: DaemonOptions,
  task: Task<T>,
  patience?: Patience,
): Promise<T> {
  const { server, timeout, quiet } = options;
  const timeoutMs = timeout ?? CONNECT_TIMEOUT_MS;
  const { waitTimeoutMs, answerTimeoutMs } = patience ?? {
    waitTimeoutMs: options['wait-timeout'],
    answerTimeoutMs: timeout ?? ANSWER_TIMEOUT_MS,
  };
  const log = new ClientLog(options);
  // What is no name of a pipe is not waited for.
  const pipe = resolvePipePath(server).address;
  const deadline = performance.now() + waitTimeoutMs;
  // By itself grpc-js would print what the other end of the pipe sends, as it came.
  routeGrpcLog((line) => process.stderr.write(`wins: gRPC: ${line}\n`));
  const leftMs = (): number => Math.max(0, Math.ceil(deadline - performance.now()));
  using waiting = showProgress(`waiting for the daemon on pipe "${server}"`, {
    afterMs: TELL_AFTER_MS,
    quiet: quiet || patience !== undefined,
  });
  const answered = (): void => waiting[Symbol.dispose]();
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
        return await withClient(clientOptions, (client) => task(client, answered));
      } catch (error) {
        // A pipe that was busy, or not there yet, deserves one more attempt; a daemon that ends, or is silent, does not.
        const mayTryAgain = leftMs() > 0 || (attempt === 0 && !isEnding(error) && !isSilent(error));
        if (!isNotTaken(error) || !mayTryAgain) throw error;
      }
      log.debug('waiting for the pipe', { pipe: server, leftMs: leftMs() });
      (await connectTrustedPipe(server, { timeoutMs, waitTimeoutMs: leftMs() })).destroy();
      if (attempt > 0) await delay(Math.min(AGAIN_DELAY_MS, leftMs()));
    }
  } catch (error) {
    throw explain(error, { server, timeoutMs, answerTimeoutMs });
  }
}

/**
 * Runs a task as {@link withDaemon}, on the pipe of administrators, which knows one in any session of Windows. The main pipe is for who may
 * not open that, and for daemons that do not have it, or not for this call.
 */
export async function withDaemonOfAdministrators<T>(
  options: DaemonOptions,
  task: Task<T>,
): Promise<T> {
  const admin = { ...options, server: adminPipeOf(options.server), 'wait-timeout': 0 };
  try {
    return await withDaemon(admin, task);
  } catch (error) {
    if (!isOfOthers(error)) throw error;
    return await withDaemon(options, task);
  }
}

/** Whether nothing was asked, or what was asked is not known there. Another server of the name is an error. */
function isOfOthers(error: unknown): boolean {
  const cause = error instanceof CommandError ? error.cause : undefined;
  if (cause instanceof WinsClientError) return cause.code === 'unimplemented';
  return cause instanceof PipeError && ['notFound', 'accessDenied'].includes(cause.code);
}

/** Closes the client, however the task ends: after what the command has to say. A process that has ended by then has closed it, too. */
async function withClient<T>(
  options: WinsClientOptions,
  task: (client: WinsClient) => Promise<T>,
): Promise<T> {
  const client = createWinsClient(options);
  try {
    return await task(client);
  } finally {
    setImmediate(() => void client.close());
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

/** Whether a pipe was served, and no one spoke in time: gRPC, which has a code for all else, was not asked. */
function isSilent(error: unknown): boolean {
  return (
    error instanceof WinsClientError &&
    error.code === 'unavailable' &&
    !error.connectionLost &&
    error.grpcCode === undefined
  );
}

/** The daemon that was asked, and how long an answer was waited for. */
interface Asked {
  readonly server: string;
  readonly timeoutMs: number;
  readonly answerTimeoutMs: number | undefined;
}

/** The one line for people and the exit code, for whatever a library said. */
function explain(error: unknown, asked: Asked): unknown {
  if (error instanceof PipeError) return pipeFailure(error);
  if (!(error instanceof WinsClientError)) return error;
  const { details } = error;
  const daemon = `the daemon on pipe "${asked.server}"`;
  const failure = (message: string, exitCode: number = EXIT.client.failed) =>
    new CommandError(message, exitCode, { cause: error });
  switch (error.code) {
    case 'unavailable':
      if (isEnding(error)) {
        return failure(
          `${daemon} is stopping: ${details} (--wait-timeout waits for the next daemon)`,
        );
      }
      if (error.reason !== undefined) {
        return failure(`${daemon} accepts no calls now: ${details}; ${ASK_DOCTOR}`);
      }
      if (error.connectionLost) {
        return failure(
          `the connection to ${daemon} was lost before the answer. See the daemon's log, or ${ASK_DOCTOR}`,
        );
      }
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
      // "invalid path" is for clients of the original, which know a refusal by it.
      return failure(
        `the daemon refused: ${error.reason === undefined ? details : details.replace(/^invalid path: /, '')}`,
        EXIT.client.refused,
      );
    case 'notFound':
      return failure(details, EXIT.client.notFound);
    case 'unimplemented':
      return failure(`${daemon} does not know this call: ${details}; it may be an older release`);
    case 'internal':
      // One with a reason is worded by the daemon.
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
