import { messageOf, type ClientIdentity } from '@wins/base';
import { Backoff } from '@wins/time';
import {
  dialError,
  dialTcp,
  dialUdp,
  listenTcp,
  listenUdp,
  TunnelError,
  type PendingConnection,
  type UdpTracker,
} from '@wins/tcp-tunnel';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Shares } from '../../kernel/admission/shares.js';
import type { Endpoint } from './judge-ports.js';

export interface RelayParts {
  /** Shares of the connections of all relays, by source address. */
  readonly connections: Pick<Shares, 'take' | 'row'>;
  readonly flows: UdpTracker;
  readonly onChange: (relay: PortRelay) => void;
  /** Called when a connection or a datagram was not relayed. It must not throw. */
  readonly onRefused: (relay: PortRelay, error: unknown) => void;
}

/** State of a relay. `busy`: another program listens there. `busy` and `failed` are retried after 1 to 60 s. */
export type RelayState = 'starting' | 'listening' | 'busy' | 'failed';

interface Listener {
  readonly openCount: () => number;
  readonly endFlows?: () => void;
  readonly close: () => Promise<void>;
}

const BACKOFF = { initialMs: 1_000, maxMs: 60_000 };
const DIAL_TIMEOUT_MS = 10_000;

/** Port of the host that leads to a container until it is closed. */
export class PortRelay {
  readonly protocol: 'tcp' | 'udp';
  readonly listen: Endpoint;
  readonly #parts: RelayParts;
  readonly #closing = new AbortController();
  readonly #backoff = new Backoff(BACKOFF);
  readonly #working: Promise<void>;
  #to: Endpoint;
  #listener: Listener | undefined;
  #state: RelayState = 'starting';
  #detail = '';
  /** Aborts the wait between two attempts. */
  #wake = new AbortController();

  constructor(protocol: 'tcp' | 'udp', listen: Endpoint, to: Endpoint, parts: RelayParts) {
    this.protocol = protocol;
    this.listen = listen;
    this.#to = to;
    this.#parts = parts;
    this.#working = this.#run();
  }

  get to(): Endpoint {
    return this.#to;
  }

  get state(): RelayState {
    return this.#state;
  }

  /** Why the relay does not listen; empty while it does. */
  get detail(): string {
    return this.#detail;
  }

  get openCount(): number {
    return this.#listener?.openCount() ?? 0;
  }

  /** Changes the target. Open connections keep their target; flows start anew. */
  leadTo(to: Endpoint): void {
    this.#to = to;
    this.#listener?.endFlows?.();
    this.#parts.onChange(this);
  }

  /** Retries at once instead of waiting for the next attempt. */
  retry(): void {
    this.#wake.abort();
  }

  /** Resets open connections and waits until the port is free. Idempotent. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  async #run(): Promise<void> {
    const { signal } = this.#closing;
    while (!signal.aborted && this.#listener === undefined) {
      try {
        this.#listener = await (this.protocol === 'tcp' ? this.#listenTcp() : this.#listenUdp());
        this.#become('listening', '');
      } catch (error) {
        const isBusy = error instanceof TunnelError && error.code === 'addressInUse';
        this.#become(isBusy ? 'busy' : 'failed', messageOf(error));
        this.#wake = new AbortController();
        const either = AbortSignal.any([signal, this.#wake.signal]);
        await this.#backoff.wait(either).catch(() => undefined);
      }
    }
    if (!signal.aborted) await once(signal, 'abort');
    await this.#listener?.close();
  }

  #become(state: RelayState, detail: string): void {
    if (state === this.#state && detail === this.#detail) return;
    this.#state = state;
    this.#detail = detail;
    this.#parts.onChange(this);
  }

  async #listenTcp(): Promise<Listener> {
    const listener = await listenTcp({
      ...this.listen,
      maxConnections: this.#parts.connections.row.total,
      open: (connection) => this.#dial(connection),
      onRefused: (error) => this.#parts.onRefused(this, error),
    });
    return { openCount: () => listener.connectionCount, close: () => listener.close() };
  }

  async #listenUdp(): Promise<Listener> {
    const listener = await listenUdp({
      ...this.listen,
      tracker: this.#parts.flows,
      open: (events) => dialUdp(this.#to, events),
      onRefused: (error) => this.#parts.onRefused(this, error),
    });
    return {
      openCount: () => listener.flowCount,
      endFlows: () => listener.endFlows(),
      close: () => listener.close(),
    };
  }

  async #dial({ remoteAddress, signal }: PendingConnection): Promise<Socket> {
    const claim = this.#parts.connections.take(sourceOf(remoteAddress));
    if (claim === undefined) {
      const message = `cannot accept a connection of ${remoteAddress}: too many connections`;
      throw new TunnelError('tooManyStreams', message, { port: this.listen.port });
    }
    const socket = dialTcp(this.#to);
    socket.setKeepAlive(true, 30_000);
    socket.on('error', () => undefined).once('close', () => claim.release());
    const late = AbortSignal.timeout(DIAL_TIMEOUT_MS);
    try {
      await once(socket, 'connect', { signal: AbortSignal.any([signal, late]) });
      return socket;
    } catch (error) {
      socket.destroy();
      throw dialError(this.#to.port, late.aborted ? { code: 'ETIMEDOUT' } : error);
    }
  }
}

/** Represents a network address as a client that shares resources, although it is no client of the pipes. */
function sourceOf(address: string): ClientIdentity {
  return {
    ...{ key: `address ${address}`, isAdministrator: false, isEverybody: false },
    ...{ description: {}, names: [] },
  };
}
