import type { CallOptions, StopOptions } from '../call-options.js';
import type { Optional } from '@wins/base';
import type { ProcessName, RunExit } from '../gen/process.js';
import type { Run, RunEnd, RunFigures } from '../gen/runs.js';
import type { RunOptions } from '../host-run.js';

/** Name of a run, and the id that distinguishes it from later runs of that name. */
export type RunName = Pick<ProcessName, 'value'> & Optional<ProcessName>;

/** Exit that no daemon reports. */
export const UNKNOWN_EXIT: RunExit = { reason: 'unknown' };

/**
 * When a run that has ended by itself starts again. `on-failure`: after an exit code other than 0, a lack of memory, or the end of its
 * keeper; `on-failure:3`: at most three times in a row. All but `no` need the grant of the daemon's config.
 */
export type RunRestart = 'no' | 'always' | 'on-failure' | `on-failure:${number}`;

/** Options of {@link RunsClient.start}. */
export interface RunStartOptions extends RunOptions {
  /** Name of the run among the runs of this client. Default: chosen by the daemon. */
  readonly name?: string | undefined;
  /** Without it, the run is not restarted. */
  readonly restart?: RunRestart | undefined;
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

/** Options of {@link RunsClient.list}. */
export interface RunListOptions extends CallOptions {
  /** Also lists detached runs that do not live, such as ended ones. Default false. */
  readonly all?: boolean | undefined;
}

/** A living run with its resource use. */
export type MeasuredRun = Run & { readonly figures: RunFigures };

/** Resource use of runs. */
export interface RunStats {
  /** Time of the measurement, in microseconds of a monotonic clock of the daemon. */
  readonly takenAtUs: number;
  readonly runs: readonly MeasuredRun[];
}

/**
 * A part of the output of a run. Offsets count the bytes of both outputs from the start of the run. The bytes are a view of a received
 * message: copy bytes that you keep for long.
 */
export type RunOutputPart =
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
  | ({ readonly stream: 'end' } & RunEnd);

/** Options of a call that waits for the end of a run, through restarts of the daemon. */
export interface RunWaitOptions extends CallOptions {
  /**
   * Time to wait for the next daemon when the daemon ends, in milliseconds: 0 to 2^31 - 1. At the limit the call fails with `unavailable`.
   * Default 60,000. Not waited for is a daemon that was not there at the beginning.
   */
  readonly reconnectTimeoutMs?: number | undefined;
  /** Receives `gone` when the next daemon is awaited, and `serving` when a daemon has answered. Default: none. */
  readonly onDaemonChange?: ((state: 'serving' | 'gone') => unknown) | undefined;
}

/** Options of {@link RunsClient.read}. Output begins where `offset`, `since` and `tailLines` all allow it; by default with the oldest byte kept. */
export interface RunReadOptions extends RunWaitOptions {
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
 * Runs of the daemon. A client sees the living runs of all clients, except the detached ones of others; an administrator of the host sees all.
 * Methods reject with a `WinsClientError`: `notFound` for a name that this client has no run of, and `unimplemented` with a Go daemon.
 */
export interface RunsClient {
  /** Starts a program whose entry in the daemon's config grants `detached`. The run outlives this client and the daemon. Resolves with its name. */
  start(options: RunStartOptions): Promise<string>;
  /** Returns the living runs, in the order of their last start. */
  list(options?: RunListOptions): Promise<readonly Run[]>;
  /**
   * Measures the living runs of this client, or all for an administrator. `name` selects one run. The daemon reuses a measurement for up to 1 s.
   */
  measure(name?: string, options?: CallOptions): Promise<RunStats>;
  /** Describes a detached run, or a living one of this client, with `details`. */
  inspect(name: string, options?: CallOptions): Promise<Run>;
  /**
   * Reads the output of a detached run. With `follow`, reading goes on through restarts of the daemon: no kept byte is missing or repeated. The last
   * part is the end of the run, if it has ended for good. Iterate the result exactly once. The daemon pauses while parts are unread. Throws at once
   * with `invalidRequest` for a number outside its range.
   */
  read(name: string, options?: RunReadOptions): AsyncIterable<RunOutputPart>;
  /** Resolves when a detached run has ended for good, through restarts of the daemon. */
  wait(name: string, options?: RunWaitOptions): Promise<RunExit>;
  /** Ends a run for good: after 10 s, or with `force` at once, it is killed. Resolves when its whole tree is gone. */
  stop(run: string | RunName, options?: StopOptions): Promise<RunExit>;
  /** Starts a detached run that was stopped, has ended or was given up, with its first arguments. Leaves a living run alone. */
  startAgain(name: string, options?: CallOptions): Promise<Run>;
  /** Ends a living detached run once the next start is admitted, and starts it. Starts other runs like {@link startAgain}. */
  restart(name: string, options?: CallOptions): Promise<Run>;
  /** Ends a living detached run, and deletes the run and its output. Resolves with its end, if it was ever started. */
  remove(name: string, options?: CallOptions): Promise<RunEnd | undefined>;
}
