import type { CallOptions, StopOptions } from '../call-options.js';
import { exitOf } from '../exit-of.js';
import { WinsClientError } from '../client-error.js';
import type {
  DetachedDetails,
  DetachedEnd as EndMessage,
  DetachedSummary,
} from '../gen/detached-runs.js';
import type { EnforcedLimits, RunExit, RunOptions } from '../host-run.js';
import { limitsOf } from '../limits-of.js';

/**
 * When a detached run that has ended by itself starts again. `on-failure`: after an exit code other than 0, a lack of memory, or the end of its
 * keeper; `on-failure:3`: at most three times in a row. All but `no` need the grant of the daemon's config.
 */
export type DetachedRestart = 'no' | 'always' | 'on-failure' | `on-failure:${number}`;

/** Options of {@link DetachedClient.start}. */
export interface DetachedStartOptions extends RunOptions {
  /** Name of the run among the runs of this client. Default: chosen by the daemon. */
  readonly name?: string | undefined;
  /** Without it, the run is not restarted. */
  readonly restart?: DetachedRestart | undefined;
  /**
   * Time for which the run is kept after its last end, in milliseconds, at most that of its entry in the config; 0 removes it when it ends, and
   * allows no `restart`. Default: that of its entry.
   */
  readonly maxAgeMs?: number | undefined;
  /** Ends and forgets an earlier run of this name, instead of failing with `alreadyExists`. Default false. */
  readonly replace?: boolean | undefined;
  /** Ends the call when aborted. A run that has started by then continues. */
  readonly signal?: AbortSignal | undefined;
}

/** State of a detached run. Daemons of later releases may have further states. */
export type DetachedState =
  | ('starting' | 'running' | 'stopping' | 'adopting')
  | ('waiting' | 'stopped' | 'gaveUp' | 'ended');

/** End of an attempt of a detached run. */
export interface DetachedEnd {
  readonly exit: RunExit;
  readonly endedAt: Date;
  /** Total bytes of both outputs. */
  readonly outputBytes: number;
}

/** A detached run that the daemon keeps, living or ended. */
export interface DetachedRun {
  /** For an administrator, a run of another owner is `OWNER/NAME`. */
  readonly name: string;
  /** Name of the process, `rancher-wins-` and the name of the program. */
  readonly process: string;
  readonly path: string;
  /** PID on the host of the last attempt. */
  readonly pid: number;
  readonly state: DetachedState;
  /** Start of the last attempt. */
  readonly startedAt: Date;
  /** End of the last attempt; undefined while an attempt runs. */
  readonly end: DetachedEnd | undefined;
  /** Number of restarts. */
  readonly restarts: number;
  /** Time of the next restart; undefined while the run lives, or when no restart follows. */
  readonly restartAt: Date | undefined;
  /** Reason why the daemon no longer restarts the run, if it gave up. */
  readonly gaveUp: string | undefined;
  /** Error of the last start, if it was refused. */
  readonly refused: string | undefined;
  /** SHA-256 digest that the program's file must have at the next restart; undefined if none may follow, or any content is accepted. */
  readonly needsSha256: string | undefined;
}

/** A detached run with its request, its limits and its output. */
export interface DetachedRunDetails extends DetachedRun {
  /** Arguments of the next attempt, and of the newest one unless the config has changed since. */
  readonly args: readonly string[];
  /** Names of the added environment variables. Their values may be secret, and are not told. */
  readonly variables: readonly string[];
  /** Working directory; undefined for the folder of the program. */
  readonly directory: string | undefined;
  /** Lower-case hexadecimal SHA-256 of the bytes that run or ran last; undefined before the first start. */
  readonly sha256: string | undefined;
  /** Undefined without limits. */
  readonly limits: EnforcedLimits | undefined;
  /** Owner's part of the name that administrators use; `config` for a program of `keep`. */
  readonly owner: string;
  readonly restart: DetachedRestart;
  /** Number of failed attempts in succession. */
  readonly failures: number;
  /** Total bytes of both outputs so far. */
  readonly outputBytes: number;
  /** Size of the run's files on the disk, in bytes. */
  readonly keptBytes: number;
  /** Maximum size of the output on the disk, in bytes. */
  readonly maxKeptBytes: number;
  /** Time for which the run is kept after its last end, in milliseconds; undefined without a limit. */
  readonly maxAgeMs: number | undefined;
}

/**
 * A part of the output of a detached run. Offsets count the bytes of both outputs from the start of the run. The bytes are a view of a received
 * message: copy bytes that you keep for long.
 */
export type DetachedOutput =
  | {
      readonly stream: 'stdout' | 'stderr';
      readonly offset: number;
      readonly writtenAt: Date;
      /** At most 64 KiB. */
      readonly bytes: Buffer;
    }
  /** Number of bytes that were dropped or never kept. */
  | { readonly stream: 'skipped'; readonly offset: number; readonly bytes: number }
  /** The run has ended for good. No part follows. */
  | ({ readonly stream: 'end' } & DetachedEnd);

/** Options of a call that waits for the end of a run, through restarts of the daemon. */
export interface DetachedWaitOptions extends CallOptions {
  /**
   * Time to wait for the next daemon when the daemon ends, in milliseconds: 0 to 2^31 - 1. At the limit the call fails with `unavailable`.
   * Default 60,000. Not waited for is a daemon that was not there at the beginning.
   */
  readonly reconnectTimeoutMs?: number | undefined;
  /** Receives `gone` when the next daemon is awaited, and `serving` when a daemon has answered. Default: none. */
  readonly onDaemonChange?: ((state: 'serving' | 'gone') => unknown) | undefined;
}

/** Options of {@link DetachedClient.read}. Output begins where `offset`, `since` and `tailLines` all allow it; by default with the oldest byte kept. */
export interface DetachedReadOptions extends DetachedWaitOptions {
  /** Waits for more output until the run has ended for good. Default false: ends with the output that is there. */
  readonly follow?: boolean | undefined;
  /** First byte, counted over both outputs from the start of the run. */
  readonly offset?: number | undefined;
  /** Begins with the first output of this time or later. Later output counts whatever its time, because clocks jump. */
  readonly since?: Date | undefined;
  /** Begins with this number of last lines of the wanted output, of the last 16 MiB at most: 0 to 2^32 - 1. */
  readonly tailLines?: number | undefined;
  /** Default: both outputs. */
  readonly only?: 'stdout' | 'stderr' | undefined;
}

/**
 * Detached runs, which outlive this client and the daemon. A client sees its own runs; an administrator of the host sees all. Methods reject with a
 * `WinsClientError`: `notFound` for a name that this client has no run of, and `unimplemented` with a Go daemon.
 */
export interface DetachedClient {
  /** Starts a program whose entry in the daemon's config grants `detached`. Resolves with the name of the run. */
  start(options: DetachedStartOptions): Promise<string>;
  /** Returns all kept runs, living and ended. */
  list(options?: CallOptions): Promise<readonly DetachedRun[]>;
  /** Describes a run. */
  inspect(name: string, options?: CallOptions): Promise<DetachedRunDetails>;
  /**
   * Reads the output of a run. With `follow`, reading goes on through restarts of the daemon: no kept byte is missing or repeated. The last part is
   * the end of the run, if it has ended for good. Iterate the result exactly once. The daemon pauses while parts are unread. Throws at once with
   * `invalidRequest` for a number outside its range.
   */
  read(name: string, options?: DetachedReadOptions): AsyncIterable<DetachedOutput>;
  /** Resolves when the run has ended for good, through restarts of the daemon. */
  wait(name: string, options?: DetachedWaitOptions): Promise<RunExit>;
  /** Ends a run for good: after 10 s, or with `force` at once, it is killed. Resolves when its whole tree is gone. */
  stop(name: string, options?: StopOptions): Promise<RunExit>;
  /** Starts a run that was stopped, has ended or was given up, with its first arguments. Leaves a living run alone. */
  startAgain(name: string, options?: CallOptions): Promise<DetachedRun>;
  /** Ends a living run once the next start is admitted, and starts it. Starts other runs like {@link startAgain}. */
  restart(name: string, options?: CallOptions): Promise<DetachedRun>;
  /** Ends a living run, and deletes the run and its output. Resolves with its end, if it was ever started. */
  remove(name: string, options?: CallOptions): Promise<DetachedEnd | undefined>;
}

export function runOf({ startedAtMs, restartAtMs, end, ...run }: DetachedSummary): DetachedRun {
  return {
    ...run,
    state: run.state as DetachedState,
    startedAt: new Date(startedAtMs),
    end: end && endOf(end),
    restartAt: restartAtMs === 0 ? undefined : new Date(restartAtMs),
    gaveUp: run.gaveUp || undefined,
    refused: run.refused || undefined,
    needsSha256: run.needsSha256 || undefined,
  };
}

export function detailsOf({
  summary,
  limits,
  restartPolicy: restart,
  ...details
}: DetachedDetails): DetachedRunDetails {
  if (summary === undefined)
    throw new WinsClientError('internal', { method: 'Inspect', details: 'it described no run' });
  return {
    ...runOf(summary),
    ...details,
    directory: details.directory || undefined,
    sha256: details.sha256 || undefined,
    limits: limitsOf(limits),
    restart: restart as DetachedRestart,
    maxAgeMs: details.maxAgeMs,
  };
}

export function endOf({ exit, endedAtMs, outputBytes }: EndMessage): DetachedEnd {
  return { exit: exitOf(exit), endedAt: new Date(endedAtMs), outputBytes };
}
