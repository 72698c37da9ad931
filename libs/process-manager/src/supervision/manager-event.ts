import type { Leftover } from '@wins/wins-program';
import type { ProcessExit } from './process-state.js';
import type { ManagedProcess, RunFigures } from './managed-process.js';

/** A process of an earlier daemon's run, found and ended. */
export interface RecoveredProcess {
  readonly pid: number;
  /** What showed that it was a leftover. */
  readonly evidence: Leftover['evidence'];
  readonly mark?: string;
  /** Name and path of the program, when a record remembered them. */
  readonly name?: string;
  readonly path?: string;
}

/** The run that an event is about, as `ManagedProcess` has it. */
export type EventRun = Pick<ManagedProcess, 'mark' | 'path' | 'entry'>;

/** What happened, for the daemon's log. */
export type ManagerEvent =
  | ({ readonly type: 'started'; readonly name: string; readonly pid: number } & EventRun)
  /** With what it has cost in all. */
  | ({
      readonly type: 'ended';
      readonly name: string;
      readonly exit: ProcessExit;
      readonly figures: RunFigures;
    } & EventRun)
  /** A decision allowed the start and the operating system did not. */
  | ({ readonly type: 'startFailed'; readonly error: unknown } & EventRun)
  /** Something of the run could not be ended; its record is kept for the next recovery. */
  | { readonly type: 'treeNotGone'; readonly mark: string; readonly name: string }
  /** A stranger kept a pipe of the run open; what it may still write is not waited for. */
  | { readonly type: 'outputCutOff'; readonly mark: string; readonly name: string }
  /** Nothing stands in the way of the ports of a run that starts, so they were not opened. */
  | ({ readonly type: 'portsNotOpened'; readonly why: string } & EventRun)
  /** The ports of an ended run may still be open; it is tried again, and a sweep at the next start must follow. */
  | { readonly type: 'portsNotClosed'; readonly mark: string; readonly error: unknown }
  | ({ readonly type: 'leftoverEnded' } & RecoveredProcess)
  | ({ readonly type: 'leftoverNotGone' } & RecoveredProcess)
  | { readonly type: 'recordIgnored'; readonly file: string; readonly why: string };
