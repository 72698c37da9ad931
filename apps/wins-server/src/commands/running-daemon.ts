import { ConfigError } from '@wins/config';
import { PipeError } from '@wins/pipe-transport';
import { WinsClientError, type WinsClient } from '@wins/wins-api';
import { DEFAULT_PIPE_NAME, EXIT, quoteText } from '@wins/wins-program';
import { DaemonCallError } from '../daemon-call-error.js';
import { askDaemon } from '../daemon-client.js';
import { loadDaemonConfig } from '../configuration/load-daemon-config.js';
import { thisSystem } from '../this-system.js';

/** A daemon that takes longer does not answer. */
const ANSWER_TIMEOUT_MS = 15_000;

/** Which running daemon a command is about. */
export interface RunningDaemonOptions {
  readonly config?: string | undefined;
  /** Name or path of its pipe; default: that of the config. */
  readonly server?: string | undefined;
}

/** How it is asked. */
export interface Question {
  /** The command that asks, for the daemon's log. Default: `wins srv config`. */
  readonly asker?: string;
  /** Whether the answer comes when something has been done, however long that takes. Default: no; then it has 15 s. */
  readonly takesItsTime?: boolean;
  /** The pipe to ask on, from that of the API. Default: that one. */
  readonly pipeOf?: (pipe: string) => string;
  /** What to do when no daemon answers there. */
  readonly nextStep?: string;
  /** Ends it before it is over. Default: nothing does but the time. */
  readonly signal?: AbortSignal;
  /** What an answer of the daemon itself comes to, which needs no words about the pipe; undefined for one that does. */
  readonly answered?: (error: WinsClientError) => DaemonCallError | undefined;
}

/**
 * Asks the running daemon of this host.
 *
 * @throws DaemonCallError with an exit code: 69 when there is none, 77 when it refuses.
 */
export async function askRunningDaemon<Answer>(
  options: RunningDaemonOptions,
  ask: (client: WinsClient, signal: AbortSignal) => Promise<Answer>,
  question: Question = {},
): Promise<Answer> {
  const { asker = 'wins srv config', takesItsTime = false, answered } = question;
  const daemonPipe = options.server ?? (await pipeOfConfig(options.config));
  const pipe = question.pipeOf?.(daemonPipe) ?? daemonPipe;
  const { pipeServerCheck } = await thisSystem();
  const signal = takesItsTime
    ? (question.signal ?? new AbortController().signal)
    : AbortSignal.timeout(ANSWER_TIMEOUT_MS);
  try {
    return await askDaemon(pipe, asker, pipeServerCheck?.(), (client) => ask(client, signal));
  } catch (error) {
    if (!(error instanceof WinsClientError)) throw error;
    const own = error.reason === undefined ? undefined : answered?.(error);
    throw own ?? failure(error, pipe, signal.aborted, question.nextStep);
  }
}

function failure(
  error: WinsClientError,
  pipe: string,
  isLate: boolean,
  nextStep = 'start it, or name its pipe with --server; see "wins doctor"',
): DaemonCallError {
  const { unavailable, noPermission } = EXIT.server;
  const options = { cause: error };
  const asked = `cannot ask the daemon on pipe ${quoteText(pipe)}`;
  if (error.code === 'refused') {
    // Of other sessions Windows does not say whether a container has them.
    const where = process.platform === 'win32' ? ', in session 0: over SSH or WinRM' : '';
    const message = `${asked}: ${error.details}; run this as an administrator of the host${where}`;
    return new DaemonCallError(message, noPermission, options);
  }
  if (isLate) {
    const message = `${asked}: found no answer in ${ANSWER_TIMEOUT_MS / 1000} s; wanted one; see "wins doctor"`;
    return new DaemonCallError(message, unavailable, options);
  }
  if (error.code === 'unimplemented') {
    const message = `${asked}: found a release that does not know this call; wanted 1.0.0 or later`;
    return new DaemonCallError(message, unavailable, options);
  }
  const cause = error.cause instanceof PipeError ? error.cause.message : undefined;
  const found = cause ?? (error.connectionLost ? 'it ended' : 'no daemon answers');
  const message = `${asked}: ${found}; ${nextStep}`;
  return new DaemonCallError(message, unavailable, options);
}

/** The pipe of the daemon of a config; that of the defaults when the config is broken, which may be why the daemon is asked. */
export async function pipeOfConfig(config: string | undefined): Promise<string> {
  try {
    return (await loadDaemonConfig(config)).config.listen;
  } catch (error) {
    if (error instanceof ConfigError && config === undefined) return DEFAULT_PIPE_NAME;
    if (error instanceof ConfigError && error.code === 'invalid') return DEFAULT_PIPE_NAME;
    throw error;
  }
}
