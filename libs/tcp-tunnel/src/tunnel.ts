import { performance } from 'node:perf_hooks';
import type { Socket } from 'node:net';
import { reporter, TransientMap, withDefaults } from '@wins/base';

import { Session } from './session/session.js';
import type { SessionRole, SessionState, TunnelEnd } from './session/session-state.js';
import { DEFAULT_FLOW_LIMITS } from './stream/flow-control.js';
import { DEFAULT_TIMES, type TunnelTimes, type TunnelOptions } from './stream/session-settings.js';
import type { TunnelTraffic } from './stream/tunnel-stream.js';
import type { TunnelWebSocket } from './web-socket/web-socket-options.js';
import { WebSocketTransport } from './web-socket/web-socket-transport.js';

/**
 * Time limit in milliseconds for reading the rest of a complete answer, counted from the end of the session. After this
 * time, the tunnel destroys its remaining streams and sockets.
 */
const LEFTOVER_MS = 5_000;

/** A running tunnel, in either role. It owns its WebSocket and its streams; the caller closes the tunnel. */
export interface Tunnel extends AsyncDisposable {
  /** Resolves with the first cause of the tunnel's end. Never rejects. */
  readonly closed: Promise<TunnelEnd>;
  readonly state: SessionState['kind'];
  /** Number of streams that are not destroyed yet. */
  readonly streamCount: number;
  /** Number of open UDP flows. A drain does not wait for them. */
  readonly flowCount: number;
  /** Traffic of all streams and flows so far. */
  readonly traffic: Readonly<TunnelTraffic>;
  /** Accepts no new streams, lets the open ones finish, then closes. */
  drain(): Promise<TunnelEnd>;
  /** Resets every stream and waits until everything is closed. Idempotent. */
  close(): Promise<void>;
}

/** Joins a {@link Session}, its WebSocket, its timer and the sockets that the tunnel dialled. */
export abstract class SessionTunnel implements Tunnel {
  readonly closed: Promise<TunnelEnd>;
  protected readonly session: Session;
  protected readonly times: TunnelTimes;
  readonly #sockets = new TransientMap<number, Socket>();
  #owned = 0;
  readonly #whenIdle = new Set<() => void>();
  #leftovers: NodeJS.Timeout | undefined;

  /** @throws {TunnelError} `webSocketNotOpen`, `invalidOption`. */
  protected constructor(socket: TunnelWebSocket, role: SessionRole, options: TunnelOptions) {
    const settings = { ...withDefaults(DEFAULT_TIMES, options.times), flow: DEFAULT_FLOW_LIMITS };
    const { signal } = options;
    this.times = settings;
    const { closeTimeoutMs } = settings;
    const { localConnection } = options;
    const isClient = role.kind === 'client';
    const transport = new WebSocketTransport(socket, { closeTimeoutMs, isClient, localConnection });
    const abort = (): void => this.#begin({ reason: 'aborted' });
    let settle: (end: TunnelEnd) => void = () => undefined;
    this.closed = new Promise((resolve) => (settle = resolve));
    let last = performance.now();
    const ticker = setInterval(() => {
      const now = performance.now();
      this.session.tick(now - last);
      last = now;
    }, settings.tickMs);
    this.session = new Session({
      role,
      transport,
      settings,
      onEnd: (end) => {
        clearInterval(ticker);
        signal?.removeEventListener('abort', abort);
        if (!this.#idle) this.#leftovers = setTimeout(() => this.#destroyAll(), LEFTOVER_MS);
        settle(end);
      },
      onIdle: () => this.#checkIdle(),
      onPeerNeverPauses: reporter(options.onPeerNeverPauses),
    });
    transport.listen(this.session);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
  }

  get state(): SessionState['kind'] {
    return this.session.state.kind;
  }

  get streamCount(): number {
    return Math.max(this.session.streamCount, this.#sockets.size);
  }

  get flowCount(): number {
    return this.session.flowCount;
  }

  get traffic(): Readonly<TunnelTraffic> {
    return { ...this.session.traffic };
  }

  /** Registers a socket: a drain waits for it, and a close destroys it. */
  protected own(socket: Socket): void {
    const number = (this.#owned += 1);
    this.#sockets.set(number, socket);
    socket.once('close', () => {
      this.#sockets.delete(number);
      this.#checkIdle();
    });
  }

  async drain(): Promise<TunnelEnd> {
    this.session.drain();
    await this.#becomeIdle();
    this.#begin({ reason: 'closed' });
    return this.closed;
  }

  async close(): Promise<void> {
    this.#begin({ reason: 'closed' });
    this.#destroyAll();
    await this.closed;
    await this.#becomeIdle();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #begin(end: TunnelEnd): void {
    this.session.close(end);
  }

  get #idle(): boolean {
    return this.session.streamCount === 0 && this.#sockets.size === 0;
  }

  #becomeIdle(): Promise<void> {
    if (this.#idle) return Promise.resolve();
    return new Promise((resolve) => this.#whenIdle.add(resolve));
  }

  #checkIdle(): void {
    if (!this.#idle) return;
    clearTimeout(this.#leftovers);
    for (const resolve of this.#whenIdle) resolve();
    this.#whenIdle.clear();
  }

  #destroyAll(): void {
    this.session.destroyStreams();
    for (const socket of [...this.#sockets.values()]) socket.destroy();
  }
}
