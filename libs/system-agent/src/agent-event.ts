import type { FailedInstruction } from './apply/pass.js';

/** Contains no secret of the plan. */
export type AgentEvent =
  /** Passed to `AgentOptions.onAction`. The action starts only after `onAction` resolves. */
  | AgentAction
  /** Files and one-time instructions are done; probes may still run. */
  | {
      readonly kind: 'passEnded';
      readonly source: string;
      readonly checksum: string;
      readonly succeeded: boolean;
      readonly failure?: FailedInstruction | undefined;
      readonly durationMs: number;
    }
  | {
      readonly kind: 'instructionEnded';
      readonly source: string;
      readonly checksum: string;
      readonly instruction: string;
      /** -1: not started, or ended by a signal. */
      readonly exitCode: number;
      /** At most 4 KiB; a file on the node has the whole output. */
      readonly stderrEnd: string;
      readonly error?: Error | undefined;
    }
  | {
      readonly kind: 'probeChanged';
      readonly source: string;
      readonly checksum: string;
      readonly probe: string;
      readonly healthy: boolean;
    }
  | { readonly kind: 'stateChanged'; readonly source: string; readonly state: SourceState }
  | {
      readonly kind: 'warning';
      readonly source: string;
      /** An unchanged message is not reported again. */
      readonly message: string;
      readonly error?: Error | undefined;
    };

/** A change on the node. Recorded before it happens. */
export type AgentAction =
  | {
      readonly kind: 'file';
      readonly source: string;
      readonly checksum: string;
      readonly path: string;
      readonly operation: 'write' | 'delete';
    }
  | {
      readonly kind: 'instruction';
      readonly source: string;
      readonly checksum: string;
      /** Name, or index if there is no name. */
      readonly instruction: string;
      readonly periodic: boolean;
      readonly command: string;
      readonly attempt: number;
    };

/** State of a plan's source: no plan, in progress, applied, failed, or unable to proceed. */
export type SourceState =
  | { readonly kind: 'starting' }
  | { readonly kind: 'noPlan' }
  | { readonly kind: 'noSecret' }
  | { readonly kind: 'applying'; readonly checksum: string; readonly attempt: number }
  /** The plan is applied; probes and periodic instructions continue. */
  | { readonly kind: 'applied'; readonly checksum: string; readonly nextPassAt: Date }
  | {
      readonly kind: 'failed';
      readonly checksum: string;
      readonly failures: number;
      readonly failure?: FailedInstruction | undefined;
      /** Absent when there is no next attempt. */
      readonly retryAt?: Date | undefined;
    }
  /** The server stopped the plan through `plan-state`; probes and periodic instructions continue. */
  | { readonly kind: 'cancelled' | 'paused'; readonly checksum: string; readonly nextPassAt: Date }
  /** The plan is not applied yet. It runs as soon as `plan-state` is `pending`, `in-progress` or absent. */
  | {
      readonly kind: 'waiting';
      readonly checksum: string;
      /** The first 64 characters of `plan-state`. */
      readonly planState?: string | undefined;
      readonly nextPassAt: Date;
    }
  /** The plan, a file of it, or a key of the Secret cannot be used. */
  | { readonly kind: 'invalid'; readonly error: Error; readonly retryAt: Date }
  /** A result on disk is not yet written to the API server. */
  | {
      readonly kind: 'unwritten';
      readonly checksum: string;
      readonly error: Error;
      readonly retryAt: Date;
    }
  /** The API server is unreachable; the known plan continues. */
  | { readonly kind: 'disconnected'; readonly error: Error; readonly retryAt: Date }
  /** The API server answers, but rejects the token of this node; the known plan continues. */
  | { readonly kind: 'unregistered'; readonly error: Error; readonly retryAt: Date };
