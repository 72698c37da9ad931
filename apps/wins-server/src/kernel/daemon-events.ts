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
 * Event in the daemon, for listeners that count or keep it. No event holds an argument, a
 * variable, output or the id of a run; paths, addresses and what clients call themselves are in
 * decisions and events of runs, as in the audit log.
 */
export type DaemonEvent =
  /** A decision was recorded, or counted as one of many by the audit log. */
  | { readonly type: 'decided'; readonly decision: Decision }
  | { readonly type: 'run'; readonly event: ManagerEvent }
  | {
      readonly type: 'call';
      readonly method: ServedMethod;
      /** The number of its gRPC status; undefined when it was broken off before there was one. */
      readonly code: number | undefined;
      readonly ms: number;
      /** The trace of its client; undefined when that sent none. */
      readonly trace?: TraceContext | undefined;
    }
  | {
      readonly type: 'connection';
      readonly pipe: DaemonPipe;
      readonly phase: 'opened' | 'closed';
    }
  /** A connection was ended to make room for others. */
  | {
      readonly type: 'connection';
      readonly pipe: DaemonPipe;
      readonly phase: 'refused';
      readonly rule: TurnedAway;
    }
  /** A session of the tunnel; how many streams it has is asked of the tunnel. */
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
  /** A program got bytes from a stream, and has sent none back for 15 s. */
  | { readonly type: 'stream'; readonly phase: 'slow'; readonly port: number }
  /**
   * A stream was reset because nothing moved in it: its program reads nothing, or its client may be
   * gone.
   */
  | {
      readonly type: 'stream';
      readonly phase: 'cut';
      readonly port: number;
      readonly code: Extract<TunnelErrorCode, 'readerStopped' | 'streamIdle'>;
    }
  | {
      readonly type: 'configReloaded';
      /** `lastGood`: the daemon started with the config before, as the file cannot be used. */
      readonly result: 'applied' | 'unchanged' | 'rejected' | 'lastGood';
      readonly changed: readonly string[];
      /** Why it was rejected: the code of its first problem, and the line. */
      readonly why?: string;
      /** Guarded keys that it was rejected for, because the file drops them. */
      readonly dropped?: readonly GuardedKey[];
    }
  /** The daemon started without guarded keys that the one before it served with. */
  | { readonly type: 'configLost'; readonly keys: readonly GuardedKey[] }
  /** Kept under its own name, with facts that its source has named one by one. */
  | {
      readonly type: 'kept';
      readonly event: string;
      readonly facts: EventFacts;
      /** Whether it is written at once. Default: with the next ones. */
      readonly isUrgent?: boolean;
    }
  /** Records of the audit log were lost, or refused with what they were about. */
  | { readonly type: 'auditLost'; readonly count: number }
  | { readonly type: 'stall'; readonly lateMs: number };

type Listener = (event: DaemonEvent) => void;

/**
 * Publishes the events of one daemon to its listeners. A source asks {@link isCounted} before it
 * makes an event that comes with each call, connection or stream, so that a daemon without metrics
 * makes none of them. Listeners are called at once and in the order in which they came; one that
 * throws disturbs neither the source nor the others.
 */
export class DaemonEvents {
  readonly #failed: (error: unknown) => void;
  // Replaced, never changed: they may be walked through just now.
  #listeners: readonly Listener[] = [];
  #counters: readonly Listener[] = [];

  /** @param failed - Gets the first error of each listener. Default: it is dropped. */
  constructor(failed: (error: unknown) => void = () => undefined) {
    this.#failed = failed;
  }

  /** Whether a listener also wants routine events. */
  get isCounted(): boolean {
    return this.#counters.length > 0;
  }

  publish(event: DaemonEvent): void {
    for (const listener of isRoutine(event) ? this.#counters : this.#listeners) listener(event);
  }

  /** Calls the listener until disposed of; `routine`: also with events of each call and stream. */
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

/** Whether an event comes with each call, connection or stream. */
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
