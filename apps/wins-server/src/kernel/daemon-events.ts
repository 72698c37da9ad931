import type { TurnedAway } from './admission/places.js';
import type { Decision } from './audit/decision.js';
import type { ServedMethod } from './rpc/call-server.js';
import type { GuardedKey } from '@wins/base';
import type { EventFacts } from './events/ring-files.js';
import type { ManagerEvent } from '@wins/process-manager';
import type { TunnelEnd, TunnelErrorCode } from '@wins/tcp-tunnel';
import type { TraceContext } from '../features/tracing/trace-context.js';

export type DaemonPipe = 'main' | 'tunnel' | 'admin';

/**
 * No event contains an argument, a variable, output or the id of a run. Paths, addresses and names that clients give themselves occur in
 * decisions and events of runs, as in the audit log.
 */
export type DaemonEvent =
  /** A decision was recorded, or counted as part of a flood. */
  | { readonly type: 'decided'; readonly decision: Decision }
  | { readonly type: 'run'; readonly event: ManagerEvent }
  | {
      readonly type: 'call';
      readonly method: ServedMethod;
      /** Number of the gRPC status; undefined when the call was aborted before there was one. */
      readonly code: number | undefined;
      readonly ms: number;
      readonly trace?: TraceContext | undefined;
    }
  | {
      readonly type: 'connection';
      readonly pipe: DaemonPipe;
      readonly phase: 'opened' | 'closed';
    }
  /** A connection was closed to free capacity for others. */
  | {
      readonly type: 'connection';
      readonly pipe: DaemonPipe;
      readonly phase: 'refused';
      readonly rule: TurnedAway;
    }
  /** A tunnel session opened or ended. */
  | { readonly type: 'tunnel'; readonly phase: 'opened'; readonly session: string }
  | {
      readonly type: 'tunnel';
      readonly phase: 'ended';
      readonly session: string;
      readonly reason: TunnelEnd['reason'];
    }
  /** A dial of an allowed stream has ended; refusals are decisions. */
  | { readonly type: 'stream'; readonly phase: 'connected'; readonly port: number }
  | {
      readonly type: 'stream';
      readonly phase: 'failed';
      readonly port: number;
      readonly code: TunnelErrorCode;
    }
  /** A program received bytes from a stream and has sent none for 15 s. */
  | { readonly type: 'stream'; readonly phase: 'slow'; readonly port: number }
  /** A stream was reset because no data moved: its program reads nothing, or its client may be gone. */
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
      /** Reason of the rejection: code and line of its first problem. */
      readonly why?: string;
      readonly dropped?: readonly GuardedKey[];
    }
  /** The daemon started without guarded keys that the previous daemon served with. */
  | { readonly type: 'configLost'; readonly keys: readonly GuardedKey[] }
  /** Event of a feature, stored under its own name with facts that its source lists one by one. */
  | {
      readonly type: 'kept';
      readonly event: string;
      readonly facts: EventFacts;
      /** Whether the event is written at once. Default: together with the next events. */
      readonly isUrgent?: boolean;
    }
  /** Records of the audit log were lost, or refused together with their actions. */
  | { readonly type: 'auditLost'; readonly count: number }
  | { readonly type: 'stall'; readonly lateMs: number };

type Listener = (event: DaemonEvent) => void;

/**
 * A source checks {@link isCounted} before it creates an event for each call or stream, so that a daemon without metrics creates none. Listeners are
 * called synchronously; an exception in a listener affects neither the source nor other listeners.
 */
export class DaemonEvents {
  readonly #failed: (error: unknown) => void;
  // Replaced instead of changed, because an iteration may be in progress.
  #listeners: readonly Listener[] = [];
  #counters: readonly Listener[] = [];

  /** @param failed - Receives the first error of each listener. Default: errors are dropped. */
  constructor(failed: (error: unknown) => void = () => undefined) {
    this.#failed = failed;
  }

  get isCounted(): boolean {
    return this.#counters.length > 0;
  }

  publish(event: DaemonEvent): void {
    for (const listener of isRoutine(event) ? this.#counters : this.#listeners) listener(event);
  }

  /** Calls the listener for each event until disposal; with `routine`, also for events of each call and stream. */
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
