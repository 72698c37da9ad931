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

/** Reopens a tunnel within a second of the daemon's return. Full jitter keeps clients from reconnecting at the same instant. */
const BACKOFF = { initialMs: 40, maxMs: 500, jitter: 1 };
/** A tunnel that lasted this long is reopened without delay. */
const GOOD_TUNNEL_MS = 5000;

/** The callbacks `on…` must not throw. */
export interface TunnelKeeperOptions {
  /** Makes one attempt; resolves once the peer has answered a probe. */
  readonly open: (signal: AbortSignal) => Promise<ClientTunnel>;
  /** Milliseconds that a connection waits while the tunnel is down. */
  readonly heldMs: number;
  /** Called when a tunnel is up, before waiting connections continue. */
  readonly onUp: () => void;
  /** Called when the tunnel is lost, before the next attempt. */
  readonly onLost: (end: TunnelEnd) => void;
  /** Called when the daemon ends a session because of this host port. The port is requested again only after the tunnel is reopened. */
  readonly onRefused: (port: number, error: Error) => void;
  /** Called with each opened stream and the host port that it leads to. The callback must listen for the stream's `error` event. */
  readonly onStream: (stream: TunnelStream, port: number) => void;
}

type State =
  | { readonly kind: 'down' }
  | { readonly kind: 'up'; readonly tunnel: ClientTunnel }
  | { readonly kind: 'closed' };

/** Reopens its tunnel after each loss, and queues connections meanwhile. */
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

  /** @param waitTimeoutMs - How long to repeat failed attempts; 0: one attempt. @throws The error of the last attempt. */
  async start(waitTimeoutMs: number): Promise<void> {
    const deadline = performance.now() + waitTimeoutMs;
    const first = this.#openTunnel(0, () => performance.now() < deadline);
    this.#following = first.then(
      (tunnel) => this.#follow(tunnel),
      () => undefined,
    );
    await first;
  }

  /** @throws Error when the tunnel stays down too long or the keeper is closed; any error of {@link PortTrials.connect}. */
  connect(
    port: number,
    connection: Pick<PendingConnection, 'signal'>,
  ): TunnelStream | Promise<TunnelStream> {
    if (this.#state.kind === 'up' && this.#state.tunnel.state === 'open')
      return this.#openStream(this.#state.tunnel, port);
    return this.#held(port, connection.signal);
  }

  /** Does not wait for the tunnel, because UDP allows lost datagrams. @throws {TunnelError} `sessionEnded` while the tunnel is down. */
  openFlow(port: number, events: UdpFlowEvents): UdpFlow {
    if (this.#state.kind === 'up') return this.#state.tunnel.openFlow(port, events);
    throw new TunnelError('sessionEnded', 'cannot open a flow: the tunnel is down', { port });
  }

  /**
   * Opens no more streams, and lets the open ones finish. Then the tunnel ends and is not reopened. Exception: if the local writer of a stream has
   * ended and the peer does not know this yet, the stream ends at once (see `heldEndIdleMs`).
   */
  async drain(): Promise<void> {
    if (this.#state.kind !== 'up') return;
    await Promise.all([this.#state.tunnel.drain(), this.#trials.drain()]);
    await this.#following;
  }

  /** Resets all streams and stops; no event follows. Idempotent. */
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
      this.#trials.forget();
      this.#state = { kind: 'up', tunnel };
      this.#options.onUp();
      this.#wake();
      const since = performance.now();
      const end = await tunnel.closed;
      // Closed or drained, so no other tunnel is needed.
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
      if (attempt > 0) await systemClock.wait(backoffMs(BACKOFF, attempt), { signal });
      try {
        const tunnel = await this.#options.open(signal);
        if (!signal.aborted) return tunnel;
        await tunnel.close();
      } catch (error) {
        // Another attempt cannot fix a CommandError.
        if (signal.aborted || error instanceof CommandError || !again()) throw error;
      }
      signal.throwIfAborted();
    }
  }
}
