import { ConfigError } from '@wins/config';
import { connectPipe, PipeError, resolvePipePath } from '@wins/pipe-transport';
import type { MethodDefinition } from '@grpc/grpc-js';
import { createWinsClient, routeGrpcLog, WinsClientError, type WinsClient } from '@wins/wins-api';
import { adminPipeOf, DEFAULT_PIPE_NAME, EXIT, quoteText, type PipeServerCheck } from '@wins/base';
import { DaemonCallError } from './daemon-call-error.js';
import type { DaemonConnections } from './daemon-connections.js';
import { baseConfig } from '../configuration/config-loader.js';
import { thisSystem } from '../this-system.js';

const ANSWER_TIMEOUT_MS = 15_000;

export interface RunningDaemonOptions {
  readonly config?: string | undefined;
  /** Name or path of the daemon's main pipe; default: that of the config. */
  readonly server?: string | undefined;
  /** Default: the question has a connection of its own. */
  readonly connections?: DaemonConnections | undefined;
}

export interface Question {
  /** Name of the calling command, for the daemon's log. Default: `wins srv config`. */
  readonly asker?: string;
  /** Time limit in milliseconds; Infinity if the daemon answers only after long work. Default: 15,000. */
  readonly timeoutMs?: number;
  /** The only pipe to try. Default: the administrators' pipe, then the main pipe, because earlier releases have no administrators' pipe. */
  readonly pipe?: 'main' | 'admin';
  readonly nextStep?: string;
  readonly signal?: AbortSignal | undefined;
  /** Exit code for an error that the daemon itself reported. If a feature is off, the exit code is always 69. */
  readonly exitCode?: (code: WinsClientError['code']) => number | undefined;
}

interface Attempt {
  readonly pipe: string;
  readonly absent: readonly string[];
  readonly isOfAdministrators: boolean;
  /** The time limit in milliseconds, if it has elapsed. */
  readonly lateMs: number | undefined;
}

/** @throws DaemonCallError with exit code 69 if there is no daemon; 77 if the daemon refuses, or if another program serves its pipe. */
export async function askRunningDaemon<Answer>(
  options: RunningDaemonOptions,
  ask: (client: WinsClient, signal: AbortSignal) => Promise<Answer>,
  question: Question = {},
): Promise<Answer> {
  const { asker = 'wins srv config', timeoutMs = ANSWER_TIMEOUT_MS } = question;
  const main = options.server ?? (await pipeOfConfig(options.config));
  const all = { main, admin: adminPipeOf(main) };
  const pipes = question.pipe === undefined ? [all.admin, main] : [all[question.pipe]];
  const { pipeServerCheck, adminServerCheck } = thisSystem();
  const never = question.signal ?? new AbortController().signal;
  const signal = timeoutMs === Infinity ? never : AbortSignal.timeout(timeoutMs);
  for (const [index, pipe] of pipes.entries()) {
    const isOfAdministrators = pipe === all.admin;
    const check = isOfAdministrators ? adminServerCheck() : pipeServerCheck?.();
    try {
      const open = () => openClient(pipe, asker, check);
      return await askOn(pipe, open, (client) => ask(client, signal), options.connections);
    } catch (error) {
      if (!(error instanceof WinsClientError)) throw error;
      if (isNotThere(error) && index + 1 < pipes.length) continue;
      const exitCode = exitCodeOf(error, question);
      if (exitCode !== undefined)
        throw new DaemonCallError(error.details, exitCode, { cause: error });
      const lateMs = signal.aborted ? timeoutMs : undefined;
      const attempt = { pipe, absent: pipes.slice(0, index), isOfAdministrators, lateMs };
      throw failure(error, attempt, question.nextStep);
    }
  }
  throw new Error('cannot ask the daemon: its pipe is unknown');
}

async function askOn<Answer>(
  pipe: string,
  open: () => WinsClient,
  ask: (client: WinsClient) => Promise<Answer>,
  shared: DaemonConnections | undefined,
): Promise<Answer> {
  if (shared !== undefined) return await shared.ask(pipe, open, ask);
  await using client = open();
  return await ask(client);
}

function openClient(
  pipe: string,
  clientName: string,
  security: PipeServerCheck | undefined,
): WinsClient {
  // Discard gRPC's log, which may contain text from the peer. The error already describes the fault.
  routeGrpcLog(() => undefined);
  return createWinsClient({
    address: resolvePipePath(pipe).address,
    clientName,
    dial: () => connectPipe(pipe, { security }),
  });
}

export function callRunningDaemon<Request, Answer>(
  options: RunningDaemonOptions,
  method: MethodDefinition<Request, Answer>,
  request: NoInfer<Request>,
  question?: Question,
): Promise<Answer> {
  const ask = (client: WinsClient, signal: AbortSignal) => client.call(method, request, { signal });
  return askRunningDaemon(options, ask, question);
}

function exitCodeOf({ code, reason }: WinsClientError, question: Question): number | undefined {
  if (reason === undefined) return undefined;
  return reason.endsWith('Off') ? EXIT.server.unavailable : question.exitCode?.(code);
}

/** True if no process serves the pipe, so that no request was sent. */
function isNotThere({ cause }: Error): boolean {
  return cause instanceof PipeError && cause.code === 'notFound';
}

function failure(
  error: WinsClientError,
  { pipe, absent, isOfAdministrators, lateMs }: Attempt,
  nextStep?: string,
): DaemonCallError {
  const { unavailable, noPermission } = EXIT.server;
  const isWindows = process.platform === 'win32';
  const failed = (why: string, step?: string, exitCode: number = unavailable): DaemonCallError => {
    const names = (isNotThere(error) ? [...absent, pipe] : [pipe]).map((name) => quoteText(name));
    const found = `cannot ask the daemon on pipe ${names.join(' or ')}: ${why}`;
    return new DaemonCallError(found, exitCode, { cause: error, ...(step && { nextStep: step }) });
  };
  if (error.code === 'refused') {
    const administrator = 'run this as an administrator of the host';
    // The main pipe recognises administrators in session 0 only: Windows does not report whether a container owns another session.
    const elsewhere = isWindows ? ', in session 0: over SSH or WinRM' : '';
    const where = isOfAdministrators ? ', outside of containers' : elsewhere;
    const [admin] = absent;
    const earlier = admin === undefined ? '' : `, because there is no pipe ${quoteText(admin)}`;
    return failed(error.details, `${administrator}${where}${earlier}`, noPermission);
  }
  const { cause } = error;
  // If the daemon is frozen, the system accepts connections for it, so `cause` is undefined.
  const isMute = error.code === 'unavailable' && cause === undefined && !error.isConnectionLost;
  if (lateMs !== undefined || isMute) {
    const within = lateMs === undefined ? '' : ` within ${lateMs / 1000} s`;
    const found = `it accepted the connection but did not answer${within}: it is frozen or busy`;
    return failed(found, nextStep ?? 'run "wins doctor"');
  }
  if (error.code === 'unimplemented')
    return failed('its release does not know this call; wanted 1.0.0 or later');
  const isAnswer = error.code === 'internal' || error.reason !== undefined;
  if (isAnswer && !error.isDaemonLost)
    return failed(`it failed: ${error.details}`, 'see its log', EXIT.server.internal);
  const reach = nextStep ?? 'start it, or name its pipe with --server. "wins doctor" shows details';
  if (!(cause instanceof PipeError) || cause.code === 'notFound')
    return failed(error.isDaemonLost ? 'it ended' : 'no daemon answers', reach);
  if (cause.code === 'accessDenied') {
    const step = `run this as an administrator of the host${isWindows ? ', elevated' : ''}`;
    return failed('access is denied', step, noPermission);
  }
  if (cause.code !== 'securityUnavailable') return failed(cause.message, reach);
  return failed(
    cause.message,
    'find out which program serves it: it is not the daemon',
    noPermission,
  );
}

/** Returns the pipe of the config. If the config is unusable, returns that of the previous config, or the default name. */
export async function pipeOfConfig(config: string | undefined): Promise<string> {
  try {
    return (await baseConfig.loadForStart(config)).loaded.config.listen;
  } catch (error) {
    if (error instanceof ConfigError && config === undefined) return DEFAULT_PIPE_NAME;
    if (error instanceof ConfigError && error.code === 'invalid') return DEFAULT_PIPE_NAME;
    throw error;
  }
}
