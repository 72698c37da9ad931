import { performance } from 'node:perf_hooks';
import type { Socket } from 'node:net';

import { SessionCore } from './session-core.js';
import type { SessionRole } from './session-role.js';
import { completeOptions, type TunnelOptions } from './session-settings.js';
import type { SessionState, TunnelEnd } from './session-state.js';
import type { TunnelWebSocket } from '../web-socket/tunnel-web-socket.js';
import { WebSocketCarrier } from '../web-socket/web-socket-carrier.js';

/** A running tunnel. It owns its WebSocket and its streams; whoever began it closes it. */
export interface TunnelSession {
  readonly state: SessionState['kind'];
  /** Streams that are not gone yet. */
  readonly channelCount: number;
  /** Why the tunnel ended: the first cause. Never rejects. */
  readonly closed: Promise<TunnelEnd>;
  /** Takes no new streams, lets the open ones finish, then closes. Resolves with the end, however it came. */
  drain(): Promise<TunnelEnd>;
  /** Resets every stream, closes the WebSocket and waits until all of it is gone. Idempotent. */
  close(): Promise<void>;
}

/** After the end of a session, an answer that is complete and still being read gets this long. */
const LEFTOVER_MS = 5_000;

/** Either role on a WebSocket: a {@link SessionCore} with the timer that drives it and the sockets that it dialled. */
export class SocketSession implements TunnelSession {
  readonly closed: Promise<TunnelEnd>;
  readonly core: SessionCore;
  readonly #sockets = new Set<Socket>();
  readonly #whenIdle = new Set<() => void>();
  #leftovers: NodeJS.Timeout | undefined;

  /** @throws {TunnelError} `websocket-not-open`, `invalid-option`. */
  constructor(
    socket: TunnelWebSocket,
    role: SessionRole,
    options: TunnelOptions & { readonly heldEndIdleMs?: number },
  ) {
    const settings = completeOptions(options);
    const { signal } = options;
    const carrier = new WebSocketCarrier(socket, settings.closeTimeoutMs);
    const abort = (): void => this.#begin({ reason: 'aborted' });
    let settle: (end: TunnelEnd) => void = () => undefined;
    this.closed = new Promise((resolve) => (settle = resolve));
    let last = performance.now();
    const ticker = setInterval(() => {
      const now = performance.now();
      this.core.tick(now - last);
      last = now;
    }, settings.tickMs);
    this.core = new SessionCore({
      role,
      carrier,
      settings,
      onEnd: (end) => {
        clearInterval(ticker);
        signal?.removeEventListener('abort', abort);
        if (!this.#idle) this.#leftovers = setTimeout(() => this.#destroyAll(), LEFTOVER_MS);
        settle(end);
      },
      onIdle: () => this.#checkIdle(),
    });
    carrier.listen(this.core);
    signal?.addEventListener('abort', abort, { once: true });
    if (signal?.aborted === true) abort();
  }

  get state(): SessionState['kind'] {
    return this.core.state.kind;
  }

  get channelCount(): number {
    return Math.max(this.core.channelCount, this.#sockets.size);
  }

  /** The socket belongs to the session: a drain waits for it and a close destroys it. */
  own(socket: Socket): void {
    this.#sockets.add(socket);
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#checkIdle();
    });
  }

  async drain(): Promise<TunnelEnd> {
    this.core.drain();
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

  #begin(end: TunnelEnd): void {
    this.core.close(end);
  }

  get #idle(): boolean {
    return this.core.channelCount === 0 && this.#sockets.size === 0;
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
    this.core.destroyChannels();
    for (const socket of this.#sockets) socket.destroy();
  }
}
