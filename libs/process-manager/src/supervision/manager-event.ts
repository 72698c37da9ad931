import type { Leftover } from '@wins/wins-program';
import type { ProcessExit } from './process-state.js';
import type { RunFigures } from './managed-process.js';

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

/** What happened, for the daemon's log. */
export type ManagerEvent =
  | {
      readonly type: 'started';
      readonly mark: string;
      readonly name: string;
      readonly path: string;
      /** As of `ManagedProcess`. */
      readonly entry: string;
      readonly pid: number;
    }
  | {
      readonly type: 'ended';
      readonly mark: string;
      readonly name: string;
      readonly path: string;
      /** As of `ManagedProcess`. */
      readonly entry: string;
      readonly exit: ProcessExit;
      /** What it has cost in all. */
      readonly figures: RunFigures;
    }
  /** A decision allowed the start and the operating system did not. */
  | {
      readonly type: 'startFailed';
      readonly mark: string;
      readonly path: string;
      /** As of `ManagedProcess`. */
      readonly entry: string;
      readonly error: unknown;
    }
  /** Something of the run could not be ended; its record is kept for the next recovery. */
  | { readonly type: 'treeNotGone'; readonly mark: string; readonly name: string }
  /** A stranger kept a pipe of the run open; what it may still write is not waited for. */
  | { readonly type: 'outputCutOff'; readonly mark: string; readonly name: string }
  /** Nothing stands in the way of the ports of a run that starts, so they were not opened. */
  | {
      readonly type: 'portsNotOpened';
      readonly mark: string;
      readonly path: string;
      /** As of `ManagedProcess`. */
      readonly entry: string;
      readonly why: string;
    }
  /** The ports of an ended run may still be open; it is tried again, and a sweep at the next start must follow. */
  | { readonly type: 'portsNotClosed'; readonly mark: string; readonly error: unknown }
  | ({ readonly type: 'leftoverEnded' } & RecoveredProcess)
  | ({ readonly type: 'leftoverNotGone' } & RecoveredProcess)
  | { readonly type: 'recordIgnored'; readonly file: string; readonly why: string };
