import { reporter, type HostExit, type HostProcess, type TreeUsage } from '@wins/base';
import { systemClock, type Clock } from '@wins/time';
import type { Abortable } from 'node:events';
import type { Readable } from 'node:stream';
import type { OutputReader, OutputSource, OutputStream, TreeLog } from '../output/output-log.js';
import { endProcessTree, resolvesInTime } from './end-process-tree.js';
import {
  moveRun,
  type ExitReason,
  type ProcessExit,
  type ProcessState,
  type RunFigures,
} from './managed-process.js';

/** Exit to assume for a tree whose first process does not end, or whose supervisor died. */
export const KILLED: HostExit = { code: 137, signal: 'SIGKILL' };

/** A process tree with its output, until nothing of it is left. Its supervisor is this process or a keeper. */
export interface SupervisedTree {
  readonly pid: number;
  readonly startToken: string;
  /** In milliseconds since 1970. */
  readonly startedAtMs: number;
  /** Identifies the process that supervises the tree, in the form of `ProcessHost.daemon`. */
  readonly supervisor: string;
  readonly state: ProcessState;
  /** Resolves when the tree is gone and its output complete. Never rejects. */
  readonly ended: Promise<ProcessExit>;
  /** False while processes may be left, and at the end if one could not be ended. */
  readonly isGone: boolean;
  /** True at the end if another process kept an output open, so that the end of the output may be missing. */
  readonly isCutOff: boolean;
  /**
   * Asks all processes to end, and kills them after the grace time. Only the first reason counts.
   *
   * @param force - Kills them at once, even while they are being asked. Default false.
   */
  end(reason: ExitReason, force?: boolean): void;
  read(options?: Abortable): OutputReader;
  /** Measures on each call; returns the final figures after the end. Never rejects. */
  measure(): Promise<RunFigures>;
}

/** Options of {@link LocalTree}. */
export interface SuperviseTreeOptions<Log extends TreeLog> {
  /** Identifies this process, in the form of `ProcessHost.daemon`. */
  readonly supervisor: string;
  /** Time in milliseconds between asking and killing. Also limits the wait for killed processes and for their outputs. */
  readonly graceMs: number;
  /** Creates the log of the output, which says when the programs must wait. */
  readonly log: (source: OutputSource) => Log;
  /** Called after each change of the state. */
  readonly onMoved?: ((state: ProcessState) => unknown) | undefined;
  /** Default: the system clock. */
  readonly clock?: Clock | undefined;
}

/** Supervises a started process: the same in a daemon and in a keeper. */
export class LocalTree<Log extends TreeLog> implements SupervisedTree {
  readonly pid: number;
  readonly startToken: string;
  readonly startedAtMs: number;
  readonly supervisor: string;
  readonly ended: Promise<ProcessExit>;
  isGone = false;
  isCutOff = false;
  readonly log: Log;
  readonly #process: HostProcess;
  readonly #options: SuperviseTreeOptions<Log>;
  readonly #reportMove: (state: ProcessState) => void;
  readonly #outputClosed: Promise<unknown>;
  /** Aborts when the processes must be killed at once. */
  readonly #force = new AbortController();
  readonly #clock: Clock;
  readonly #startedMs: number;
  #livedMs: number | undefined;
  #state: ProcessState = { kind: 'running' };
  #leaderExit: HostExit | undefined;
  #lastUsage: TreeUsage | undefined;
  readonly #written = { stdout: 0, stderr: 0 };
  #pauses = 0;
  #isPaused = false;
  #resolveEnded: (exit: ProcessExit) => void = () => undefined;

  constructor(process: HostProcess, options: SuperviseTreeOptions<Log>) {
    const { stdout, stderr, pid, startToken } = process;
    this.pid = pid;
    this.startToken = startToken;
    this.supervisor = options.supervisor;
    this.#clock = options.clock ?? systemClock;
    this.startedAtMs = this.#clock.now().getTime();
    this.#startedMs = this.#clock.monotonicMs();
    this.#process = process;
    this.#options = options;
    this.#reportMove = reporter(options.onMoved);
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
    const source = {
      pause: () => {
        if (!this.#isPaused) this.#pauses += 1;
        this.#isPaused = true;
        [stdout, stderr].forEach((stream) => stream.pause());
      },
      resume: () => {
        this.#isPaused = false;
        [stdout, stderr].forEach((stream) => stream.resume());
      },
    };
    this.log = options.log(source);
    this.#outputClosed = Promise.all([
      collect(stdout, (bytes) => this.#take('stdout', bytes)),
      collect(stderr, (bytes) => this.#take('stderr', bytes)),
    ]);
    // The streams of a host that reuses its buffer begin paused.
    source.resume();
    void process.exited.then((exit) => {
      this.#leaderExit = exit;
      this.#livedMs = this.livedMs;
      this.end(exit.outOfMemory === true ? 'outOfMemory' : 'exited');
    });
  }

  get state(): ProcessState {
    return this.#state;
  }

  /** Time between the start and the exit of the first process in milliseconds, whatever the clock was set to. */
  get livedMs(): number {
    return this.#livedMs ?? Math.round(this.#clock.monotonicMs() - this.#startedMs);
  }

  end(reason: ExitReason, force = false): void {
    if (force) this.#force.abort();
    if (this.#state.kind !== 'running') return;
    this.#move({ kind: 'stopping', reason });
    void this.#finish(reason);
  }

  read(options?: Abortable): OutputReader {
    return this.log.read(options);
  }

  async measure(): Promise<RunFigures> {
    const usage = this.#lastUsage ?? (await this.#process.usage());
    const { stdout, stderr } = this.#written;
    return {
      usage: this.#lastUsage ?? usage,
      output: { stdoutBytes: stdout, stderrBytes: stderr, pauses: this.#pauses },
    };
  }

  /** Discards what another process writes to an output after the end. */
  #take(stream: OutputStream, bytes: Buffer): void {
    if (this.#state.kind === 'ended') return;
    this.#written[stream] += bytes.length;
    this.log.append(stream, bytes);
  }

  async #finish(reason: ExitReason): Promise<void> {
    const { graceMs } = this.#options;
    const process = this.#process;
    // Most programs leave no process behind; then there is no tree to end.
    const hasEnded = reason === 'exited' || reason === 'outOfMemory';
    const leftAlone = hasEnded && (await process.isGone());
    const onKill = (): void => this.#move({ kind: 'killing', reason });
    this.isGone = leftAlone || (await endProcessTree(process, graceMs, onKill, this.#force.signal));
    this.#move({ kind: 'draining', reason });
    this.log.finish();
    this.isCutOff = !(await resolvesInTime(this.#outputClosed, graceMs));
    // Measure before `close`, which closes the handles that measuring needs.
    this.#lastUsage = await process.usage();
    process.close();
    const exit = exitOf(this.isGone ? await process.exited : (this.#leaderExit ?? KILLED), reason);
    await this.log.close();
    this.#move({ kind: 'ended', exit });
    this.#resolveEnded(exit);
  }

  #move(to: ProcessState): void {
    this.#state = moveRun(this.#state, to);
    this.#reportMove(to);
  }
}

/** Resolves when the stream is closed. */
export function collect(stream: Readable, take: (bytes: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    stream.on('data', take);
    // A failed pipe needs no handling: 'close' follows.
    stream.on('error', () => undefined);
    stream.once('close', resolve);
  });
}

export function exitOf({ code, signal }: HostExit, reason: ExitReason): ProcessExit {
  return signal === undefined ? { code, reason } : { code, signal, reason };
}
