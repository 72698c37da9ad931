import type { Readable } from 'node:stream';

/** Program to run, and how. */
export interface RunOptions {
  /** The program, at the same path and with the same bytes here and on the host. A relative path counts from the working directory. */
  readonly path: string;
  /** Its arguments, as they are: no shell reads them. Default: none. */
  readonly args?: readonly string[];
  /** Variables that are added to its environment; the daemon refuses those that its config does not grant. Default: none. */
  readonly envs?: Readonly<Record<string, string>>;
  /** Its working directory on the host. Default: the folder of the program. */
  readonly directory?: string;
  /** Bounds of the run and all that it starts; a daemon that knows no limits refuses the run. Default: those of its config. */
  readonly limits?: RunLimits;
  /** Asks a run of the same program to end, and waits for that, instead of failing with `alreadyRunning`; the newest wins. Default false. */
  readonly replace?: boolean;
  /** Gets each warning of the daemon about a start that succeeded: foreign text. */
  readonly onWarning?: (text: string) => void;
  /** Aborting it stops the program; `exit` then rejects with `aborted` once it is gone, or after 30 s. */
  readonly signal?: AbortSignal;
}

/** Bounds of a run and all that it starts; each that is absent does not bind. */
export interface RunLimits {
  readonly memoryBytes?: number;
  /** Processors' worth of time, to a thousandth. */
  readonly cpus?: number;
  /** Processes at once; on Linux threads count, too. */
  readonly pids?: number;
}

/** The limits that hold for a run. */
export interface EnforcedLimits extends RunLimits {
  /** By which means: `jobObject` and `cgroup` bind the tree as a whole, `rlimit` each process by itself. */
  readonly means: string;
}

/** Why a run ended; `unknown` from a Go daemon, or one of a later release. */
export type RunEndReason =
  | 'exited'
  | 'outOfMemory'
  | 'stopped'
  | 'leaseEnded'
  | 'leaseNeverHeld'
  | 'ownerDisconnected'
  | 'replaced'
  | 'yielded'
  | 'daemonStopping'
  | 'hostFailed'
  | 'unknown';

/** How a program ended. */
export interface RunExit {
  /** Its exit code, 0 to 2^32 - 1; undefined when a signal ended it, and from a Go daemon, which does not tell. */
  readonly exitCode: number | undefined;
  /** The signal that ended it, such as `SIGKILL`. */
  readonly signal: string | undefined;
  readonly reason: RunEndReason;
}

/** A program that runs on the host for as long as this client holds it. `await using` stops it at the end of its block. */
export interface HostRun extends AsyncDisposable {
  /** `rancher-wins-` and the name of the program. */
  readonly name: string;
  /** The number of its process on the host; undefined when it has ended already, and from a Go daemon. */
  readonly pid: number | undefined;
  /**
   * Standard output of the program; ends when the run ends, whatever the reason. Read this and `stderr`, or `resume()` them: output
   * that nobody takes holds the program up.
   */
  readonly stdout: Readable;
  /** Standard error of the program. */
  readonly stderr: Readable;
  /** Resolves when it and all that it started are gone, and its output is read. Rejects with a `WinsClientError`, also unheard. */
  readonly exit: Promise<RunExit>;
  /** Stops it, by force if told so, and discards what was not read. Gives `exit`. */
  stop(options?: { readonly force?: boolean }): Promise<RunExit>;
}
