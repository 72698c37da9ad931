import { quoteText, reporter, type Optional } from '@wins/base';
import { Backoff, type BackoffOptions } from '@wins/time';
import { hashFile } from '@wins/trusted-files';
import { randomUUID } from 'node:crypto';
import type { OutputPart } from './output/output-log.js';
import { fileError, mayPass, ProcessError } from './process-error.js';
import type { ProcessManager } from './process-manager.js';
import type { StartRequest } from './start-request.js';
import type { ProcessExit } from './supervision/managed-process.js';

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
  /** Stops the program. The promise rejects with `aborted` once the program has ended. Default: only the end of the row stops it. */
  readonly signal?: AbortSignal | undefined;
}

/** Minimum run time that resets the back-off. */
const STEADY_MS = 60_000;

/**
 * Runs an allowed program and restarts it when it ends. Resolves with the exit of the final run. Abort the signal before you close the manager.
 *
 * @throws ProcessError of a start that cannot succeed later, such as `pathNotAllowed`, `argumentsNotAllowed`, `invalidPath` or `shuttingDown`, or
 * `notFound` before the first run; `aborted` after an abort. At `maxRestarts`, the error of the last start, or the error of `onOutput`.
 */
export async function superviseProgram(
  manager: ProcessManager,
  options: SuperviseOptions,
): Promise<ProcessExit> {
  const { path, name = path, args = [], envs = [], directory, exposes, limits, files } = options;
  const { restart = 'always', maxRestarts = Infinity, onOutput } = options;
  const { signal = new AbortController().signal } = options;
  const reportEnd = reporter(options.onEnd);
  const backoff = new Backoff(options.backoff ?? { initialMs: 1_000, maxMs: 60_000 });
  const isStopped = (): boolean => signal.aborted;
  let hasRun = false;
  const runOnce = async (): Promise<ProcessExit> => {
    const owner = { id: `supervisor:${randomUUID()}`, disconnected: signal };
    const { sha256 } = await hashFile(path, ['sha256']).catch((error: unknown) => {
      throw fileError(error, 'cannot read', path, 'stagingFailed');
    });
    const request = { path, name, sha256, args, envs, directory, exposes, limits, files, owner };
    const run = await manager.start(request);
    hasRun = true;
    const lease = run.holdLease(owner.id);
    try {
      for await (const part of run.read(owner.id)) await onOutput?.(part);
    } finally {
      await lease.release();
    }
    return run.ended;
  };
  const isFinal = (end: ProcessExit | Error): boolean => {
    if (!(end instanceof Error)) return restart === 'onFailure' && end.code === 0;
    // The file may have changed since its digest was read, and may be absent while it is replaced.
    if (!(end instanceof ProcessError) || end.code === 'checksumMismatch') return false;
    return !mayPass(end.code) || (end.code === 'notFound' && !hasRun);
  };
  for (let restarts = 0; !isStopped(); restarts += 1) {
    const startedAtMs = performance.now();
    const end = await runOnce().catch(asError);
    reportEnd(end);
    if (performance.now() - startedAtMs >= STEADY_MS) {
      backoff.reset();
      restarts = 0;
    }
    if (!isStopped() && (isFinal(end) || restarts >= maxRestarts)) {
      if (end instanceof Error) throw end;
      return end;
    }
    await backoff.wait({ signal }).catch(() => undefined);
  }
  const message = `the supervision of ${quoteText(path)} was stopped by its caller`;
  throw new ProcessError('aborted', message, { cause: signal.reason });
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
