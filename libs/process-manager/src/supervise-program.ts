import { Backoff, type BackoffOptions } from '@wins/time';
import { hashFile } from '@wins/trusted-files';
import { randomUUID } from 'node:crypto';
import type { OutputPart } from './output/output-log.js';
import type { ProcessManager } from './process-manager.js';
import type { StartRequest } from './start-request.js';
import type { ManagedProcess, ProcessExit } from './supervision/managed-process.js';

/** Program and restart policy of {@link superviseProgram}. */
export interface SuperviseOptions extends Partial<
  Pick<StartRequest, 'args' | 'envs' | 'directory' | 'exposes'>
> {
  /** Absolute path. Each start accepts the current content, unless the entry in `allowed` pins digests. */
  readonly path: string;
  /** `always` restarts after any exit code, `onFailure` only after a code other than 0. Default `always`. */
  readonly restart?: 'always' | 'onFailure';
  /** Default: from 1 s to 60 s. Reset by a run of at least 60 s. */
  readonly backoff?: BackoffOptions;
  /** The returned promise delays the next part. An error stops the run. Default: output is discarded. */
  readonly onOutput?: (part: OutputPart) => void | Promise<void>;
  /** Receives how each run ended, or why the program could not be started or followed. */
  readonly onEnd?: (end: ProcessExit | Error) => void;
}

/** A program that is restarted when it ends. */
export interface SupervisedProgram extends AsyncDisposable {
  /** Undefined between two runs. */
  readonly run: ManagedProcess | undefined;
  /** Resolves with the last exit, if any, after the final run. Never rejects. */
  readonly ended: Promise<ProcessExit | undefined>;
  /** Stops the program without a restart. Idempotent; resolves as `ended` does. */
  close(): Promise<ProcessExit | undefined>;
}

/** Minimum run time that resets the back-off. */
const STEADY_MS = 60_000;

/** Runs an allowed program and restarts it when it ends. Close the returned object before the manager. */
export function superviseProgram(
  manager: ProcessManager,
  options: SuperviseOptions,
): SupervisedProgram {
  const { restart = 'always', onOutput, onEnd } = options;
  const backoff = new Backoff(options.backoff ?? { initialMs: 1_000, maxMs: 60_000 });
  const closing = new AbortController();
  const { signal } = closing;
  let run: ManagedProcess | undefined;
  const runOnce = async (): Promise<ProcessExit> => {
    const { path, args = [], envs = [], ...more } = options;
    const owner = { id: `supervisor:${randomUUID()}`, disconnected: signal };
    const { sha256 } = await hashFile(path, ['sha256']);
    run = await manager.start({ ...more, path, sha256, args, envs, owner });
    const lease = run.holdLease(owner.id);
    try {
      for await (const part of run.read(owner.id)) await onOutput?.(part);
    } finally {
      await lease.release();
      run = undefined;
    }
    return lease.release();
  };
  const keepRunning = async (): Promise<ProcessExit | undefined> => {
    let last: ProcessExit | undefined;
    while (!signal.aborted) {
      const startedAtMs = performance.now();
      const end = await runOnce().catch(asError);
      onEnd?.(end);
      if (!(end instanceof Error)) last = end;
      if (restart === 'onFailure' && last === end && last.code === 0) break;
      if (performance.now() - startedAtMs >= STEADY_MS) backoff.reset();
      await backoff.wait(signal).catch(() => undefined);
    }
    return last;
  };
  const ended = keepRunning();
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
    [Symbol.asyncDispose]: () => close().then(() => undefined),
  };
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
