import type { TreeLimits } from '@wins/base';
import type { Readable } from 'node:stream';
import type { RunExit } from './gen/process.js';

/** A port that the host's firewall opens while a program runs. */
export interface RunPort {
  readonly port: number;
  readonly protocol: 'TCP' | 'UDP';
}

/** Options of a run. */
export interface RunOptions {
  /** Path of the program, which must have the same path and bytes on the host. May be relative. */
  readonly path: string;
  /** Arguments, passed unchanged without a shell. */
  readonly args?: readonly string[] | undefined;
  /** Variables to add to the program's environment. The daemon refuses variables that its config does not grant. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Working directory on the host. Default: the folder of the program. */
  readonly directory?: string | undefined;
  /** Ports of the host that the firewall opens while the program runs. The daemon's config must grant them. Default: none. */
  readonly exposes?: readonly RunPort[] | undefined;
  /**
   * Limits of the run and its descendants; `cpus` to a thousandth. The daemon's config supplies each absent limit. A daemon that does not
   * support limits refuses the run.
   */
  readonly limits?: TreeLimits | undefined;
  /** Ends an earlier run of the same program, instead of failing with `alreadyRunning`. Default false. */
  readonly replace?: boolean | undefined;
  /** Receives each warning about a successful start. The text is untrusted. */
  readonly onWarning?: ((text: string) => unknown) | undefined;
  /** Stops the program when aborted. `exit` then rejects with `aborted` when the program has ended, or after 30 s. */
  readonly signal?: AbortSignal | undefined;
}

/** A program that runs on the host while this client holds it. `await using` stops it at the end of the block. */
export interface HostRun extends AsyncDisposable {
  /** `rancher-wins-` and the name of the program. */
  readonly name: string;
  /** PID on the host; undefined from a Go daemon, and when the program has already ended. */
  readonly pid: number | undefined;
  /**
   * Standard output. Read both outputs, or `resume()` them: unread output blocks the program. If `exit` rejects, both are destroyed with the same
   * error, because the output is cut off.
   */
  readonly stdout: Readable;
  readonly stderr: Readable;
  /**
   * Resolves when the whole tree has ended and its output is read. Rejects with a `WinsClientError`. Callers may ignore the rejection.
   */
  readonly exit: Promise<RunExit>;
  /** Stops the program and discards unread output. `force` kills the program. Settles as `exit` does. */
  stop(options?: { readonly force?: boolean | undefined }): Promise<RunExit>;
}
