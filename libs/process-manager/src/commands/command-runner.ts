import {
  reporter,
  RUN_MARKER_VARIABLE,
  type HostExit,
  type HostProcess,
  type ProcessHost,
} from '@wins/base';
import { randomBytes } from 'node:crypto';
import { GRACE_MS, hostOf, type HostOf } from '../manager-options.js';
import { ProcessError } from '../process-error.js';
import { endProcessTree, resolvesInTime } from '../supervision/end-process-tree.js';
import { lineageOf } from '../supervision/run-mark.js';
import { collect, KILLED } from '../supervision/supervised-tree.js';

/** Options of {@link CommandRunner}. */
export interface CommandRunnerOptions {
  readonly host: HostOf;
  /** State directory of the process manager. The manager's `recover` ends commands that a dead daemon left running. */
  readonly stateDirectory: string;
  /**
   * Time in milliseconds between asking a tree to end and killing it. After the kill, the wait for the processes to be gone
   * has the same limit, and so has the wait for their outputs to close. Default 10,000.
   */
  readonly graceMs?: number | undefined;
}

/** A command of the host's own administrator: it needs no entry in `allowed`, and its program is not copied. */
export interface HostOwnCommand {
  /** Absolute path. */
  readonly file: string;
  readonly args: readonly string[];
  /** Complete environment, except the run's mark, which the host adds. */
  readonly env: Readonly<Record<string, string>>;
  /** Absolute path. */
  readonly directory: string;
  /** Receives output as it arrives; the program never waits for this callback. */
  readonly onOutput: (stream: 'stdout' | 'stderr', bytes: Buffer) => unknown;
}

/** Runs commands of the administrator of the host, each in its own process tree. The creator closes the runner, which ends the commands. */
export class CommandRunner implements AsyncDisposable {
  readonly #host: ProcessHost;
  readonly #lineage: string;
  readonly #graceMs: number;
  readonly #running = new Set<Promise<unknown>>();
  /** Trees with processes that outlived their command. */
  readonly #left = new Set<HostProcess>();
  readonly #closed = new AbortController();
  #closing: Promise<void> | undefined;

  constructor({ host, stateDirectory, graceMs = GRACE_MS }: CommandRunnerOptions) {
    this.#host = hostOf(host);
    this.#lineage = lineageOf(stateDirectory);
    this.#graceMs = graceMs;
  }

  /**
   * Resolves when the program has ended and no process holds its outputs open. Descendants that do not hold the
   * outputs may still be running; `close` ends them. An abort of the signal ends the whole tree; the promise then
   * rejects. When the runner is closed, it resolves with the exit.
   *
   * @throws ProcessError `spawnFailed`, `invalidArgument` (arguments too long), `aborted`, `shuttingDown`.
   */
  run(command: HostOwnCommand, { signal }: { readonly signal: AbortSignal }): Promise<HostExit> {
    const run = this.#run(command, signal);
    this.#running.add(run);
    const forget = (): unknown => this.#running.delete(run);
    run.then(forget, forget);
    return run;
  }

  /** Ends all running commands and the remaining descendants of ended ones. Idempotent. */
  close(): Promise<void> {
    return (this.#closing ??= this.#close());
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    this.#closed.abort();
    await Promise.allSettled([...this.#running]);
    const endLeft = async (tree: HostProcess): Promise<void> => {
      await endProcessTree(tree, this.#graceMs);
      tree.close();
    };
    await Promise.all([...this.#left].map(endLeft));
    this.#left.clear();
  }

  async #run(command: HostOwnCommand, signal: AbortSignal): Promise<HostExit> {
    const signals = [signal, this.#closed.signal];
    if (signal.aborted) throw stoppedByCaller(signal);
    if (this.#closed.signal.aborted)
      throw new ProcessError('shuttingDown', 'cannot run a command: the runner is closed');
    const { env, ...what } = command;
    const onOutput = reporter(command.onOutput);
    const tree = await this.#host.start({
      ...what,
      argv0: command.file,
      // Remove any mark from `env`: the host sets its own, by which it finds the tree again.
      env: Object.fromEntries(
        Object.entries(env).filter(([name]) => name.toUpperCase() !== RUN_MARKER_VARIABLE),
      ),
      mark: randomBytes(16).toString('hex'),
      lineage: this.#lineage,
      mayBreakAway: true,
    });
    const outputsClosed = Promise.all([
      collect(tree.stdout, (bytes) => onOutput('stdout', bytes)),
      collect(tree.stderr, (bytes) => onOutput('stderr', bytes)),
    ]);
    const ended = Promise.all([tree.exited, outputsClosed]);
    const over = new AbortController();
    const stopped = await Promise.race([
      ended.then(() => undefined),
      firstAborted(signals, over.signal).then(() => signals.find(({ aborted }) => aborted)),
    ]);
    over.abort();
    if (stopped === undefined) {
      await this.#keep(tree);
      return tree.exited;
    }
    const isGone = await endProcessTree(tree, this.#graceMs);
    await resolvesInTime(outputsClosed, this.#graceMs);
    tree.close();
    if (stopped === signal) throw stoppedByCaller(signal);
    return isGone ? tree.exited : KILLED;
  }

  async #keep(tree: HostProcess): Promise<void> {
    this.#left.add(tree);
    await Promise.all(
      [...this.#left].map(async (each) => {
        if (!(await each.isGone())) return;
        this.#left.delete(each);
        each.close();
      }),
    );
  }
}

function stoppedByCaller({ reason: cause }: AbortSignal): ProcessError {
  return new ProcessError('aborted', 'the command was stopped by its caller', { cause });
}

/**
 * The caller aborts `over` to remove the listeners. `AbortSignal.any` would leak, because the `signals` live as long
 * as the daemon.
 */
export function firstAborted(signals: readonly AbortSignal[], over: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    for (const signal of signals) {
      if (signal.aborted) resolve();
      else signal.addEventListener('abort', () => resolve(), { once: true, signal: over });
    }
  });
}
