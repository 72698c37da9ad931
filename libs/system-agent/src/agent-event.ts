import type { FailedInstruction } from './apply/pass.js';

/**
 * Something that happened, reported to the program that composes the agent: for a log, an audit log and metrics. None of it holds a secret of
 * the plan.
 */
export type AgentEvent =
  /** Reported before the act, and awaited: see `AgentOptions.onAct`. */
  | AgentAct
  /** A pass with files and one-time instructions; its probes may go on. */
  | {
      readonly kind: 'passEnded';
      readonly source: string;
      readonly checksum: string;
      readonly succeeded: boolean;
      readonly failure?: FailedInstruction;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'instructionEnded';
      readonly source: string;
      readonly checksum: string;
      readonly instruction: string;
      /** -1: not started, or ended by a signal. */
      readonly exitCode: number;
      /** The end of what it wrote to stderr, at most 4 KiB; the rest is in the file on the node. */
      readonly stderrEnd: string;
      /** Why it could not be started. */
      readonly error?: Error;
    }
  | {
      readonly kind: 'probeChanged';
      readonly source: string;
      readonly checksum: string;
      readonly probe: string;
      readonly healthy: boolean;
    }
  | {
      readonly kind: 'stateChanged';
      readonly source: string;
      readonly state: SourceState;
    }
  /** Something that a person should know; the agent goes on. */
  | {
      readonly kind: 'warning';
      readonly source: string;
      /** Each reason is reported once, until it changes. */
      readonly message: string;
      readonly error?: Error;
    };

/** An act on the node, recorded before it is done. */
export type AgentAct =
  | {
      readonly kind: 'file';
      readonly source: string;
      readonly checksum: string;
      readonly path: string;
      readonly action: 'write' | 'delete';
    }
  | {
      readonly kind: 'instruction';
      readonly source: string;
      readonly checksum: string;
      /** Its name, or its place in the list where it has none. */
      readonly instruction: string;
      readonly periodic: boolean;
      readonly command: string;
      readonly attempt: number;
    };

/** Where a source of plans stands. */
export type SourceState =
  | { readonly kind: 'starting' }
  /** The Secret, or the folder, has no plan. */
  | { readonly kind: 'noPlan' }
  /** The server has no Secret for this node. */
  | { readonly kind: 'noSecret' }
  | { readonly kind: 'applying'; readonly checksum: string; readonly attempt: number }
  /** The plan is applied; probes and periodic instructions go on. */
  | { readonly kind: 'applied'; readonly checksum: string; readonly nextPassAt: Date }
  | {
      readonly kind: 'failed';
      readonly checksum: string;
      readonly failures: number;
      /** Absent where nobody has written down which instruction it was. */
      readonly failure?: FailedInstruction;
      /** Absent: there is no next try. */
      readonly retryAt?: Date;
    }
  /** `plan-state` says that the server has stopped the plan; probes and periodic instructions go on. */
  | {
      readonly kind: 'cancelled' | 'paused';
      readonly checksum: string;
      readonly nextPassAt: Date;
    }
  /**
   * The plan is neither applied nor failed. With `pending`, `in-progress` or no `plan-state` at all its turn comes at once; any other
   * value starts nothing. Probes and periodic instructions go on.
   */
  | {
      readonly kind: 'waiting';
      readonly checksum: string;
      /** The first 64 characters of the value of the key, which may be any. */
      readonly planState?: string;
      readonly nextPassAt: Date;
    }
  /** The plan, a file of it, or a key of the Secret cannot be used. */
  | { readonly kind: 'invalid'; readonly error: Error; readonly retryAt: Date }
  /** A result waits on the disk for the API server. */
  | {
      readonly kind: 'unwritten';
      readonly checksum: string;
      readonly error: Error;
      readonly retryAt: Date;
    }
  /** No connection to the API server; the plan that is known goes on. */
  | { readonly kind: 'disconnected'; readonly error: Error; readonly retryAt: Date }
  /** The API server answers, and does not know the token of this node; the plan that is known goes on. */
  | { readonly kind: 'unregistered'; readonly error: Error; readonly retryAt: Date };
