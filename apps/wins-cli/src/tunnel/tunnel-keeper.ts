import { backoffMs, systemClock } from '@wins/time';
import { CommandError } from '../command-error.js';
import { PortTrials } from './port-trials.js';
import {
  type ClientTunnel,
  type PendingConnection,
  TunnelError,
  type TunnelStream,
  type TunnelEnd,
  type UdpFlow,
  type UdpFlowEvents,
} from '@wins/tcp-tunnel';

/**
 * Half a second at most, so that a tunnel is up within a second of the daemon's return. Full jitter, so that clients of one daemon do not come back
 * in the same instant.
 */
const BACKOFF = { initialMs: 40, maxMs: 500, jitter: 1 };
/** A tunnel that held for so long was a good one: the next attempt begins without delay. */
const GOOD_TUNNEL_MS = 5000;

/** Parts of a {@link TunnelKeeper}. */
export interface TunnelKeeperOptions {
  /** Makes one attempt to open a tunnel, whose peer has answered a probe by then. */
  readonly open: (signal: AbortSignal) => Promise<ClientTunnel>;
  /** How long a connection waits for a tunnel that is down, in ms. */
  readonly heldMs: number;
  /** A tunnel is up; what waited goes on. It must not throw. */
  readonly onUp: () => void;
  /** The tunnel is lost; the next attempt begins. It must not throw. */
  readonly onLost: (end: TunnelEnd) => void;
  /** The daemon ends a session at that port of the host, and will not be asked for it again. It must not throw. */
  readonly onRefused: (port: number, error: Error) => void;
  /** A stream to that port of the host was opened; the callee listens for its `error`. It must not throw. */
  readonly onStream: (stream: TunnelStream, port: number) => void;
}

type State =
  | { readonly kind: 'down' }
  | { readonly kind: 'up'; readonly tunnel: ClientTunnel }
  | { readonly kind: 'closed' };

/** Keeps one tunnel up: opens it again whenever it is lost, and lets connections wait meanwhile. */
export class TunnelKeeper {
  #state: State = { kind: 'down' };
  readonly #waiting = new Set<() => void>();
  readonly #trials: PortTrials;
  readonly #end = new AbortController();
  #following: Promise<void> = Promise.resolve();

  readonly #options: TunnelKeeperOptions;

  constructor(options: TunnelKeeperOptions) {
    this.#options = options;
    this.#trials = new PortTrials({
      open: () => options.open(this.#end.signal),
      onRefused: (port, error) => options.onRefused(port, error),
    });
  }

  /**
   * Opens the first tunnel; from then on it is kept until `close()`.
   *
   * @param waitTimeoutMs - For how long attempts are repeated; 0 makes one.
   * @throws What the last attempt threw.
   */
  async start(waitTimeoutMs: number): Promise<void> {
    const deadline = performance.now() + waitTimeoutMs;
    const first = this.#openTunnel(0, () => performance.now() < deadline);
    this.#following = first.then(
      (tunnel) => this.#follow(tunnel),
      () => undefined,
    );
    await first;
  }

  /**
   * A stream to a port of the host, at once or when the tunnel is up again.
   *
   * @throws Error when the tunnel stays down for too long, or the keeper is closed; what {@link PortTrials.connect} throws, for
   * a daemon of a Go release.
   */
  connect(
    port: number,
    connection: Pick<PendingConnection, 'signal'>,
  ): TunnelStream | Promise<TunnelStream> {
    if (this.#state.kind === 'up' && this.#state.tunnel.state === 'open') {
      return this.#openStream(this.#state.tunnel, port);
    }
    return this.#held(port, connection.signal);
  }

  /**
   * A UDP flow to a port of the host. None waits for the tunnel, since datagrams may be lost.
   *
   * @throws {TunnelError} `sessionEnded` while it is down; what `openFlow` of the tunnel throws.
   */
  openFlow(port: number, events: UdpFlowEvents): UdpFlow {
    if (this.#state.kind === 'up') return this.#state.tunnel.openFlow(port, events);
    throw new TunnelError('sessionEnded', 'cannot open a flow: the tunnel is down', { port });
  }

  /** Opens no more streams, and ends those whose local end is over; the tunnel ends with the last, and is not opened again. */
  async drain(): Promise<void> {
    if (this.#state.kind !== 'up') return;
    await Promise.all([this.#state.tunnel.drain(), this.#trials.drain()]);
    await this.#following;
  }

  /** Resets all streams and gives up; no event follows. Idempotent. */
  async close(): Promise<void> {
    const state = this.#state;
    this.#state = { kind: 'closed' };
    this.#end.abort(new Error('the tunnel is being closed'));
    this.#wake();
    if (state.kind === 'up') await state.tunnel.close();
    await this.#trials.close();
    await this.#following;
  }

  #held(port: number, signal: AbortSignal): Promise<TunnelStream> {
    return new Promise((resolve, reject) => {
      const decide = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', decide);
        this.#waiting.delete(decide);
        try {
          signal.throwIfAborted();
          if (this.#state.kind !== 'up') throw new Error('there is no tunnel');
          resolve(this.#openStream(this.#state.tunnel, port));
        } catch (error) {
          reject(error instanceof Error ? error : new Error(String(error)));
        }
      };
      const timer = setTimeout(decide, this.#options.heldMs);
      signal.addEventListener('abort', decide);
      this.#waiting.add(decide);
    });
  }

  #openStream(tunnel: ClientTunnel, port: number): TunnelStream | Promise<TunnelStream> {
    const opened = tunnel.isPeerExtended
      ? tunnel.connect(port)
      : this.#trials.connect(tunnel, port);
    const told = (stream: TunnelStream): TunnelStream => {
      this.#options.onStream(stream, port);
      return stream;
    };
    return 'then' in opened ? opened.then(told) : told(opened);
  }

  #wake(): void {
    for (const decide of this.#waiting) decide();
  }

  async #follow(first: ClientTunnel): Promise<void> {
    let tunnel = first;
    for (let attempt = 0; !this.#isClosed(); attempt += 1) {
      // As long as it is up the daemon is the same process.
      this.#trials.forget();
      this.#state = { kind: 'up', tunnel };
      this.#options.onUp();
      this.#wake();
      const since = performance.now();
      const end = await tunnel.closed;
      // Drained: no other one is wanted.
      if (this.#isClosed() || end.reason === 'closed') break;
      this.#state = { kind: 'down' };
      this.#options.onLost(end);
      if (performance.now() - since > GOOD_TUNNEL_MS) attempt = 0;
      try {
        tunnel = await this.#openTunnel(attempt, () => true);
      } catch {
        return; // only because of `close()`
      }
    }
    await tunnel.close();
  }

  #isClosed(): boolean {
    return this.#end.signal.aborted;
  }

  async #openTunnel(attempts: number, again: () => boolean): Promise<ClientTunnel> {
    const { signal } = this.#end;
    for (let attempt = attempts; ; attempt += 1) {
      if (attempt > 0) await systemClock.wait(backoffMs(BACKOFF, attempt), signal);
      try {
        const tunnel = await this.#options.open(signal);
        if (!signal.aborted) return tunnel;
        await tunnel.close();
      } catch (error) {
        // Another attempt fixes nothing that this program was asked to do.
        if (signal.aborted || error instanceof CommandError || !again()) throw error;
      }
      signal.throwIfAborted();
    }
  }
}
