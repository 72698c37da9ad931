import { quoteText, reporter, type Optional } from '@wins/base';
import { Backoff, type BackoffOptions } from '@wins/time';
import { hashFile } from '@wins/trusted-files';
import { randomUUID } from 'node:crypto';
import type { OutputPart } from './output/output-log.js';
import { fileError, mayPass, ProcessError } from './process-error.js';
import type { ProcessManager } from './process-manager.js';
import type { StartRequest } from './start-request.js';
import type { ManagedProcess, ProcessExit } from './supervision/managed-process.js';

/** Program and restart policy of {@link superviseProgram}. */
export interface SuperviseOptions extends Optional<
  Pick<StartRequest, 'args' | 'envs' | 'directory' | 'exposes' | 'limits' | 'files'>
> {
  /** Absolute path. Each start accepts the current content, unless the entry in `allowed` pins digests. */
  readonly path: string;
  /** Name of the run among those of the manager. Default: `path`. Give each of several programs with one path a name. */
  readonly name?: string | undefined;
  /** `always` restarts after any exit code, `onFailure` only after a code other than 0. Default `always`. */
  readonly restart?: 'always' | 'onFailure' | undefined;
  /** Maximum number of restarts in a row; a run of at least 60 s begins a new row. At the limit, supervision ends. Default: no limit. */
  readonly maxRestarts?: number | undefined;
  /** Default: from 1 s to 60 s, shortened at random by up to half. Reset by a run of at least 60 s. */
  readonly backoff?: BackoffOptions | undefined;
  /** The returned promise delays the next part. An error stops the run. Default: output is discarded. */
  readonly onOutput?: ((part: OutputPart) => void | Promise<void>) | undefined;
  /** Receives how each run ended, or why the program could not be started or followed. The next start does not wait for it. */
  readonly onEnd?: ((end: ProcessExit | Error) => unknown) | undefined;
  /** Stops the program when aborted. `ended` then rejects with `aborted`. */
  readonly signal?: AbortSignal | undefined;
}

/** A program that is restarted when it ends. */
export interface SupervisedProgram extends AsyncDisposable {
  /** Undefined between two runs. */
  readonly run: ManagedProcess | undefined;
  /**
   * Resolves with the last exit, if any, after the final run. Rejects with the `ProcessError` of a start that cannot succeed later, such as
   * `pathNotAllowed`, `argumentsNotAllowed`, `invalidPath` or `shuttingDown`, or `notFound` before the first run; with `aborted` after an abort; and
   * with the error of the last start at `maxRestarts`. Callers may ignore the rejection.
   */
  readonly ended: Promise<ProcessExit | undefined>;
  /** Stops the program without a restart. Idempotent; settles as `ended` does. */
  close(): Promise<ProcessExit | undefined>;
}

/** Minimum run time that resets the back-off. */
const STEADY_MS = 60_000;

/** Runs an allowed program and restarts it when it ends. Close the returned object before the manager. */
export function superviseProgram(
  manager: ProcessManager,
  options: SuperviseOptions,
): SupervisedProgram {
  const { restart = 'always', maxRestarts = Infinity, onOutput } = options;
  const reportEnd = reporter(options.onEnd);
  const backoff = new Backoff(options.backoff ?? { initialMs: 1_000, maxMs: 60_000 });
  const closing = new AbortController();
  const signals = [closing.signal, ...(options.signal === undefined ? [] : [options.signal])];
  const stopping = AbortSignal.any(signals);
  const isStopping = (): boolean => stopping.aborted;
  let run: ManagedProcess | undefined;
  let hasRun = false;
  const runOnce = async (): Promise<ProcessExit> => {
    const { path, name = path, args = [], envs = [], directory, exposes, limits, files } = options;
    const owner = { id: `supervisor:${randomUUID()}`, disconnected: stopping };
    const { sha256 } = await hashFile(path, ['sha256']).catch((error: unknown) => {
      throw fileError(error, 'cannot read', path, 'stagingFailed');
    });
    run = await manager.start({
      path,
      name,
      sha256,
      args,
      envs,
      owner,
      directory,
      exposes,
      limits,
      files,
    });
    hasRun = true;
    const lease = run.holdLease(owner.id);
    try {
      for await (const part of run.read(owner.id)) await onOutput?.(part);
    } finally {
      await lease.release();
      run = undefined;
    }
    return lease.release();
  };
  const isFinal = (error: unknown): boolean => {
    if (!(error instanceof ProcessError)) return false;
    // The file may have changed since its digest was read, and may be absent while it is replaced.
    if (error.code === 'checksumMismatch') return false;
    return !mayPass(error.code) || (error.code === 'notFound' && !hasRun);
  };
  const keepRunning = async (): Promise<ProcessExit | undefined> => {
    let last: ProcessExit | undefined;
    for (let restarts = 0; !isStopping(); restarts += 1) {
      const startedAtMs = performance.now();
      const end = await runOnce().catch(asError);
      reportEnd(end);
      if (!(end instanceof Error)) last = end;
      if (performance.now() - startedAtMs >= STEADY_MS) {
        backoff.reset();
        restarts = 0;
      }
      const isDone = last === end ? restart === 'onFailure' && last.code === 0 : isFinal(end);
      if (!isStopping() && (isDone || restarts >= maxRestarts)) {
        if (end instanceof Error) throw end;
        return end;
      }
      await backoff.wait({ signal: stopping }).catch(() => undefined);
    }
    if (closing.signal.aborted || options.signal?.aborted !== true) return last;
    const message = `the supervision of ${quoteText(options.path)} was stopped by its caller`;
    throw new ProcessError('aborted', message, { cause: options.signal.reason });
  };
  const ended = keepRunning();
  ended.catch(() => undefined);
  const close = (): Promise<ProcessExit | undefined> => {
    closing.abort();
    return ended;
  };
  return {
    get run() {
      return run;
    },
    ended,
    close,
    [Symbol.asyncDispose]: () => close().then(ignore, ignore),
  };
}

function ignore(): void {
  // `ended` reports the failure.
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
