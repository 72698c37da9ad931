import { ClientLog, type ClientLogOptions } from '../client-log.js';

/** The options of every command that calls the daemon, as they were read. */
export interface DaemonOptions extends ClientLogOptions {
  readonly server: string;
  readonly 'wait-timeout': number;
  /** `--timeout`; undefined when it was not given. */
  readonly timeout?: number | undefined;
  readonly quiet: boolean;
}

/** Where the daemon is, and how long it may take. */
export interface DaemonAddress {
  /** Name or path of the daemon's pipe. */
  readonly server: string;
  /** How long to wait for a pipe that does not exist yet, or for the next daemon while one ends. 0: not at all. */
  readonly waitTimeoutMs: number;
  /** How long a pipe that is served may take to speak HTTP/2. */
  readonly connectTimeoutMs: number;
  /** How long a call with one answer may take. Absent: as long as it takes. */
  readonly answerTimeoutMs?: number | undefined;
  /** Whether nothing on the terminal says that the daemon is waited for. */
  readonly quiet: boolean;
  /** Where `--debug` is followed. Default: nowhere. */
  readonly log?: ClientLog;
}

/** A daemon that works accepts within milliseconds, and within seconds on a host whose processors are all busy. */
export const CONNECT_TIMEOUT_MS = 10_000;
/** More than an answer takes: that of a stop comes once the program was asked for 10 s, and made to end. */
const ANSWER_TIMEOUT_MS = 30_000;

/** Where the options say that the daemon is, and how long they let it take. */
export function daemonAddress(options: DaemonOptions): DaemonAddress {
  const { server, timeout, quiet } = options;
  return {
    ...{ server, quiet, waitTimeoutMs: options['wait-timeout'] },
    connectTimeoutMs: timeout ?? CONNECT_TIMEOUT_MS,
    answerTimeoutMs: timeout ?? ANSWER_TIMEOUT_MS,
    log: new ClientLog(options),
  };
}
