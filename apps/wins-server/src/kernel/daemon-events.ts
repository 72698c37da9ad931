import type { TurnedAway } from './admission/slots.js';
import type { Decision } from './audit/decision.js';
import type { Seen } from './conditions/conditions.js';
import type { ServedMethod } from './rpc/call-server.js';
import type { GuardedKey } from '@wins/base';
import type { EventFacts } from './events/ring-files.js';
import type { ManagerEvent } from '@wins/process-manager';
import type { TunnelEnd, TunnelErrorCode } from '@wins/tcp-tunnel';

export type DaemonPipe = 'main' | 'tunnel' | 'admin';

/**
 * Events contain no arguments, variables, output or ids of runs. As in the audit log, `decided` and `run` events may contain paths,
 * addresses, and names that clients chose.
 */
export type DaemonEvent =
  /** Published even when, in a flood, the audit log only counts the decision. */
  | { readonly type: 'decided'; readonly decision: Decision }
  | { readonly type: 'run'; readonly event: ManagerEvent }
  | {
      readonly type: 'call';
      readonly method: ServedMethod;
      /** gRPC status; undefined if the call was aborted before it had one. */
      readonly code: number | undefined;
      readonly ms: number;
    }
  | {
      readonly type: 'connection';
      readonly pipe: DaemonPipe;
      readonly phase: 'opened' | 'closed';
    }
  /** The daemon closed a connection for lack of capacity. */
  | {
      readonly type: 'connection';
      readonly pipe: DaemonPipe;
      readonly phase: 'refused';
      readonly rule: TurnedAway;
    }
  | { readonly type: 'tunnel'; readonly phase: 'opened'; readonly session: string }
  | {
      readonly type: 'tunnel';
      readonly phase: 'ended';
      readonly session: string;
      readonly reason: TunnelEnd['reason'];
    }
  /** The dial of an allowed stream succeeded or failed. A refused stream is a `decided` event. */
  | { readonly type: 'stream'; readonly phase: 'connected'; readonly port: number }
  | {
      readonly type: 'stream';
      readonly phase: 'failed';
      readonly port: number;
      readonly code: TunnelErrorCode;
    }
  /** The host program on `port` received bytes, but has sent none for 15 s. */
  | { readonly type: 'stream'; readonly phase: 'slow'; readonly port: number }
  /** The daemon reset the stream because no data moved. `readerStopped`: the host program does not read. `streamIdle`: the client may be gone. */
  | {
      readonly type: 'stream';
      readonly phase: 'cut';
      readonly port: number;
      readonly code: Extract<TunnelErrorCode, 'readerStopped' | 'streamIdle'>;
    }
  | {
      readonly type: 'configReloaded';
      /** `lastGood`: the file is unusable, so the daemon started with the previous config. */
      readonly result: 'applied' | 'unchanged' | 'rejected' | 'lastGood';
      readonly changed: readonly string[];
      /** Code and line of the first problem. */
      readonly why?: string;
      readonly dropped?: readonly GuardedKey[];
    }
  /** The daemon started without guarded keys that the previous daemon had. */
  | { readonly type: 'configLost'; readonly keys: readonly GuardedKey[] }
  /** Event of a feature, stored under the name in `event`. */
  | {
      readonly type: 'kept';
      readonly event: string;
      readonly facts: EventFacts;
      /** True: written at once. Default: written with the next events. */
      readonly isUrgent?: boolean;
    }
  /** A warning or problem of the daemon became visible, or ended. */
  | {
      readonly type: 'condition';
      readonly phase: 'began' | 'ended';
      readonly condition: Seen;
    }
  /** Audit records were lost, or actions were refused because they could not be recorded. */
  | { readonly type: 'auditLost'; readonly count: number }
  | { readonly type: 'stall'; readonly lateMs: number };

type Listener = (event: DaemonEvent) => void;

/**
 * Sources check {@link isCounted} before they create an event for a call or a stream, so that a daemon without metrics creates none. Listeners run
 * synchronously; their exceptions affect neither the source nor each other.
 */
export class DaemonEvents {
  readonly #failed: (error: unknown) => void;
  // Replaced instead of changed, because an iteration may be in progress.
  #listeners: readonly Listener[] = [];
  #counters: readonly Listener[] = [];

  /** `failed` receives the first error of each listener. */
  constructor(failed: (error: unknown) => void = () => undefined) {
    this.#failed = failed;
  }

  get isCounted(): boolean {
    return this.#counters.length > 0;
  }

  publish(event: DaemonEvent): void {
    for (const listener of isRoutine(event) ? this.#counters : this.#listeners) listener(event);
  }

  /** Calls the listener for each event until disposal. Omits routine events (`isRoutine`) unless `routine` is true. */
  subscribe(listener: Listener, { routine = false }: { routine?: boolean } = {}): Disposable {
    let hasFailed = false;
    const guarded: Listener = (event) => {
      try {
        listener(event);
      } catch (error) {
        if (!hasFailed) this.#failed(error);
        hasFailed = true;
      }
    };
    this.#listeners = [...this.#listeners, guarded];
    if (routine) this.#counters = [...this.#counters, guarded];
    return {
      [Symbol.dispose]: () => {
        this.#listeners = this.#listeners.filter((other) => other !== guarded);
        this.#counters = this.#counters.filter((other) => other !== guarded);
      },
    };
  }
}

function isRoutine(event: DaemonEvent): boolean {
  switch (event.type) {
    case 'call':
      return true;
    case 'connection':
      return event.phase !== 'refused';
    case 'stream':
      return event.phase === 'connected';
    default:
      return false;
  }
}
