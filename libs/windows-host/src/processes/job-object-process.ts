import type { HostExit, HostProcess, StopRequest, TreeUsage } from '@wins/base';
import type { Readable } from 'node:stream';
import type { OwnedHandle } from '../win32/calls/call.js';
import { askToEnd } from './ask-to-end.js';
import * as jobs from './job-object.js';
import { openNullDevice, openOutputPipe, type OutputPipe } from './windows-process-output.js';
import { startWindowsProcess, type Program } from './windows-process-start.js';
import { creationTime, exitOf } from './windows-process.js';

const CREATE_NEW_CONSOLE = 0x10;

type Options = jobs.JobOptions & { readonly stop?: StopRequest | undefined };

/** A program with all its descendants, in its own job object. The caller of `start` calls `close`. */
export class JobObjectProcess implements HostProcess {
  readonly pid: number;
  readonly startToken: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<HostExit>;
  readonly #job: OwnedHandle;
  readonly #stop: StopRequest;
  #closed = false;

  private constructor(
    started: Pick<JobObjectProcess, 'pid' | 'startToken' | 'stdout' | 'stderr'>,
    exitCode: Promise<number>,
    { job, stop = {}, limits }: Options & { readonly job: OwnedHandle },
  ) {
    this.pid = started.pid;
    this.startToken = started.startToken;
    this.stdout = started.stdout;
    this.stderr = started.stderr;
    this.#job = job;
    this.#stop = stop;
    this.exited = exitCode.then((code) => {
      const limitBytes = limits?.memoryBytes;
      // The job may be closed by then.
      const isFull =
        limitBytes !== undefined &&
        code !== 0 &&
        this.#try(() => jobs.hasRunOutOfMemory(job.value, limitBytes)) === true;
      return { code, ...(isFull && { outOfMemory: true }) };
    });
  }

  /**
   * Gives the program a hidden console, the null device as input, and pipes as outputs.
   *
   * @throws WindowsError as {@link startWindowsProcess}; then nothing runs.
   */
  static start(program: Program, options: Options): JobObjectProcess {
    const job = jobs.openJob(options);
    const outputs: OutputPipe[] = [];
    try {
      using stdin = openNullDevice();
      try {
        const stdout = openOutputPipe();
        outputs.push(stdout);
        const stderr = openOutputPipe();
        outputs.push(stderr);
        const { pid, handle } = startWindowsProcess(program, {
          job: job.value,
          stdio: [stdin.value, stdout.childEnd.value, stderr.childEnd.value],
          flags: CREATE_NEW_CONSOLE,
        });
        let exitCode: Promise<number>;
        let startToken: string;
        try {
          startToken = creationTime(handle.value);
          exitCode = exitOf(handle);
        } catch (error) {
          handle.close();
          throw error;
        }
        const started = { pid, startToken, stdout: stdout.stream, stderr: stderr.stream };
        return new JobObjectProcess(started, exitCode, { ...options, job });
      } finally {
        // The streams cannot end while this process holds the child ends open.
        for (const { childEnd } of outputs) childEnd.close();
      }
    } catch (error) {
      job.close();
      for (const { stream } of outputs) stream.destroy();
      throw error;
    }
  }

  isGone(): Promise<boolean> {
    const isEmpty = () => jobs.jobAccount(this.#job.value).processes === 0;
    return Promise.resolve(this.#try(isEmpty) ?? false);
  }

  /** Processor time is exact and includes that of ended processes. */
  usage(): Promise<TreeUsage | undefined> {
    return Promise.resolve(this.#try(() => jobs.jobUsage(this.#job.value)));
  }

  /**
   * Asks the process tree to end, or kills it. If `mode` is `graceful`, sends the stop request that was passed to `start`.
   * If `mode` is `force`, or if no stop request can be sent, kills the tree.
   */
  terminate(mode: 'graceful' | 'force'): Promise<void> {
    const ask = (): boolean => mode === 'graceful' && askToEnd(this.#job.value, this.#stop);
    if (this.#try(ask) !== true) this.#try(() => jobs.endJob(this.#job.value));
    return Promise.resolve();
  }

  /** Kills running processes. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#job.close();
    this.stdout.destroy();
    this.stderr.destroy();
  }

  [Symbol.dispose](): void {
    this.close();
  }

  /** Returns undefined if `action` fails. Errors of `terminate` may be ignored, because its callers check `isGone`. */
  #try<T>(action: () => T): T | undefined {
    if (this.#closed) return undefined;
    try {
      return action();
    } catch {
      return undefined;
    }
  }
}
