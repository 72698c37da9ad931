import type { ProcessHost, ProcessTree } from '@wins/base';
import type { Abortable } from 'node:events';
import type { OutputReader, TreeLog } from '../output/output-log.js';
import { endProcessTree, resolvesInTime } from '../supervision/end-process-tree.js';
import type {
  ExitReason,
  ProcessExit,
  ProcessState,
  RunFigures,
} from '../supervision/managed-process.js';
import type { RunEnd } from '../supervision/run-record.js';
import { exitOf, KILLED, type SupervisedTree } from '../supervision/supervised-tree.js';
import type { DaemonMessage, KeeperMessage } from './keeper-messages.js';

/** Time limit for the answer of a keeper, because runs are measured together: one that hangs must not hold up the others. Then the figures before count. */
const MEASURE_MS = 1000;

type EndMessage = Extract<DaemonMessage, { readonly kind: 'end' }>;
type EndedMessage = Extract<KeeperMessage, { readonly kind: 'ended' }>;

/** Output of a kept run, which its keeper writes to the disk. */
export interface KeptOutput extends Pick<TreeLog, 'read'> {
  /** Called when there may be more output. */
  written(): void;
}

/** The tree's keeper. */
export interface KeeperOfTree {
  end(message: Omit<EndMessage, 'kind'>): void;
  /** Resolves with undefined if the keeper has no such tree. */
  measure(mark: string): Promise<EndedMessage['end']['figures']>;
}

export interface KeptTreeParts {
  readonly keeper: KeeperOfTree;
  readonly host: ProcessHost;
  /** Time between asking and killing, if this process has to end the tree. */
  readonly graceMs: number;
  readonly output: KeptOutput;
}

type TreeFacts = Pick<SupervisedTree, 'pid' | 'startToken' | 'startedAtMs' | 'supervisor'> & {
  readonly mark: string;
};

/** A tree that a keeper supervises. If the keeper dies, this process ends what is left of the tree. */
export class KeptTree implements SupervisedTree {
  readonly mark: string;
  readonly pid: number;
  readonly startToken: string;
  readonly startedAtMs: number;
  readonly supervisor: string;
  readonly output: KeptOutput;
  readonly ended: Promise<ProcessExit>;
  isGone = false;
  isCutOff = false;
  readonly #parts: KeptTreeParts;
  readonly #force = new AbortController();
  #state: ProcessState = { kind: 'running' };
  #figures: RunFigures = { output: { stdoutBytes: 0, stderrBytes: 0, pauses: 0 } };
  #recordedEnd: RunEnd | undefined;
  #isLeft = false;
  #isLost = false;
  #resolveEnded: (exit: ProcessExit) => void = () => undefined;

  constructor({ mark, pid, startToken, startedAtMs, supervisor }: TreeFacts, parts: KeptTreeParts) {
    this.mark = mark;
    this.pid = pid;
    this.startToken = startToken;
    this.startedAtMs = startedAtMs;
    this.supervisor = supervisor;
    this.output = parts.output;
    this.#parts = parts;
    this.ended = new Promise((resolve) => (this.#resolveEnded = resolve));
  }

  get state(): ProcessState {
    return this.#state;
  }

  end(reason: ExitReason, force = false): void {
    if (this.#isLeft || this.#state.kind === 'ended') return;
    if (force) this.#force.abort();
    if (this.#state.kind === 'running') this.#state = { kind: 'stopping', reason };
    else if (!force) return;
    if (!this.#isLost) this.#parts.keeper.end({ mark: this.mark, reason, force });
  }

  /** End that the keeper has recorded; undefined before the end, and if the keeper died first. */
  get recordedEnd(): RunEnd | undefined {
    return this.#recordedEnd;
  }

  /** Leaves the tree to its keeper: from now on, nothing ends it from here. */
  leave(): void {
    this.#isLeft = true;
  }

  read(options?: Abortable): OutputReader {
    return this.output.read(options);
  }

  async measure(): Promise<RunFigures> {
    if (this.#state.kind !== 'ended' && !this.#isLost) {
      const measured = this.#parts.keeper.measure(this.mark).then((figures) => {
        // The end has the last figures, and may arrive together with this answer.
        if (figures !== undefined && this.#recordedEnd === undefined) this.#figures = figures;
      });
      await resolvesInTime(measured, MEASURE_MS);
    }
    return this.#figures;
  }

  /** The keeper is the one that knows the state. */
  moved(state: ProcessState): void {
    this.#state = state;
  }

  finish({ end, isGone, isCutOff }: EndedMessage): void {
    this.#recordedEnd = end;
    this.#figures = end.figures ?? this.#figures;
    this.isGone = isGone;
    this.isCutOff = isCutOff;
    this.#finish(exitOf(end, end.reason));
  }

  /** Call when the keeper has died or disconnected. */
  lose(): void {
    if (this.#isLeft) return;
    this.#isLost = true;
    void this.#endLeftovers();
  }

  async #endLeftovers(): Promise<void> {
    const state = this.#state;
    const reason = 'reason' in state ? state.reason : 'hostFailed';
    this.#state = { kind: 'stopping', reason };
    const onKill = (): void => void (this.#state = { kind: 'killing', reason });
    const { graceMs } = this.#parts;
    const left = this.#leftovers();
    this.isGone =
      (await left.isGone()) || (await endProcessTree(left, graceMs, onKill, this.#force.signal));
    this.#finish({ ...KILLED, reason });
  }

  #finish(exit: ProcessExit): void {
    this.#state = { kind: 'ended', exit };
    this.#resolveEnded(exit);
    this.output.written();
  }

  #leftovers(): ProcessTree {
    const remembered = [{ mark: this.mark, pid: this.pid, startToken: this.startToken }];
    // Unknown if the search fails; the caller asks again.
    const find = () =>
      this.#parts.host.findLeftovers({ executables: [], remembered }).catch(() => undefined);
    return {
      isGone: async () => (await find())?.length === 0,
      terminate: async (mode) => {
        for (const leftover of (await find()) ?? []) await leftover.terminate(mode);
      },
    };
  }
}
