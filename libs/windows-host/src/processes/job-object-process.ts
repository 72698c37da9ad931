import type { HostProcess, TreeUsage } from '@wins/base';
import type { Readable } from 'node:stream';

import type { OwnedHandle } from '../win32/calls/call.js';
import { endJob, openJob, jobAccount, jobUsage } from './job-object.js';
import { openNullDevice, openOutputPipe, type OutputPipe } from './windows-process-output.js';
import { startWindowsProcess, type Program } from './windows-process-start.js';
import { creationTime, exitOf } from './windows-process.js';

const CREATE_NEW_CONSOLE = 0x10;

/** A program and everything that it starts, in a job object of its own. The caller that started it closes it. */
export class JobObjectProcess implements HostProcess {
  readonly pid: number;
  readonly startToken: string;
  readonly stdout: Readable;
  readonly stderr: Readable;
  readonly exited: Promise<{ readonly code: number }>;
  readonly #job: OwnedHandle;
  #closed = false;

  private constructor(
    started: Pick<JobObjectProcess, 'pid' | 'startToken' | 'stdout' | 'stderr' | 'exited'>,
    job: OwnedHandle,
  ) {
    this.pid = started.pid;
    this.startToken = started.startToken;
    this.stdout = started.stdout;
    this.stderr = started.stderr;
    this.exited = started.exited;
    this.#job = job;
  }

  /**
   * Starts a program in a hidden console of its own, with the null device as input and pipes as outputs.
   *
   * @throws WindowsError as {@link startWindowsProcess} does; then nothing runs.
   */
  static start(program: Program, options: { readonly mayBreakAway: boolean }): JobObjectProcess {
    const job = openJob(options.mayBreakAway);
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
        let exited: Promise<{ code: number }>;
        let startToken: string;
        try {
          startToken = creationTime(handle.value);
          exited = exitOf(handle).then((code) => ({ code }));
        } catch (error) {
          handle.close();
          throw error;
        }
        const streams = { stdout: stdout.stream, stderr: stderr.stream };
        return new JobObjectProcess({ pid, startToken, exited, ...streams }, job);
      } finally {
        // Or the streams would not end with the last process that writes to them.
        for (const { childEnd } of outputs) childEnd.close();
      }
    } catch (error) {
      job.close();
      for (const { stream } of outputs) stream.destroy();
      throw error;
    }
  }

  isGone(): Promise<boolean> {
    return Promise.resolve(this.#try(() => jobAccount(this.#job.value).processes === 0) ?? false);
  }

  /** Processor time is exact, that of what has ended too. */
  usage(): Promise<TreeUsage | undefined> {
    return Promise.resolve(this.#try(() => jobUsage(this.#job.value)));
  }

  /**
   * Ends everything in the tree at once. Windows cannot ask a program without a window to end, but by its console, to which a
   * daemon would have to attach itself and then be ended with it: so both modes do the same.
   */
  terminate(): Promise<void> {
    this.#try(() => endJob(this.#job.value));
    return Promise.resolve();
  }

  /** Gives everything back, and ends what still runs. Idempotent. */
  close(): void {
    this.#closed = true;
    this.#job.close();
    this.stdout.destroy();
    this.stderr.destroy();
  }

  #try<T>(act: () => T): T | undefined {
    if (this.#closed) return undefined;
    try {
      return act();
    } catch {
      // Whether it worked is seen by looking again.
      return undefined;
    }
  }
}
