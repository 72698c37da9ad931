/** Takes a chunk of output, of at most 64 KiB. The next one comes when a promise that it gives has settled. */
export type OnOutput = (chunk: Uint8Array) => void | Promise<void>;

/** What to run, and where its output goes. */
export interface RunProcessOptions {
  /** The program, at the same path and with the same bytes here and on the host. A relative path counts from the working directory. */
  readonly path: string;
  /** Its arguments, as they are: no shell reads them. Default: none. */
  readonly args?: readonly string[];
  /** Variables that are added to its environment; the daemon refuses those that its config does not grant. Default: none. */
  readonly envs?: Readonly<Record<string, string>>;
  /** Its working directory on the host. Default: the folder of the program. */
  readonly directory?: string;
  /** Gets what it writes to standard output, in order. A chunk is a view: copy what you keep. Default: it is thrown away. */
  readonly onStdout?: OnOutput;
  /** Gets what it writes to standard error, in order and between what `onStdout` gets. Default: it is thrown away. */
  readonly onStderr?: OnOutput;
  /** Aborting it stops the program, and all that it started; the call then rejects with `aborted` once they are gone, or after 30 s. */
  readonly signal?: AbortSignal;
}

/** How a program ended. */
export interface ProcessResult {
  /** Its exit code, 0 to 2^32 - 1; undefined when a signal ended it, and from a Go daemon, which does not tell. */
  readonly exitCode: number | undefined;
  /** The signal that ended it, such as `SIGKILL`. */
  readonly signal: string | undefined;
  /** Why it ended: `exited` by itself; `stopped`, `daemonStopping` and others of the daemon; `unknown` from a Go daemon. */
  readonly reason: string;
}
