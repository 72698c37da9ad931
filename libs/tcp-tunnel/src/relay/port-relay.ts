import { messageOf } from '@wins/base';
import { backoffMs, Reconciler } from '@wins/time';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { dialTcp } from '../tcp/tcp-connector.js';
import { listenTcp, type PendingConnection, type WatchedEnd } from '../tcp/tcp-listener.js';
import { dialError, TunnelError } from '../tunnel-error.js';
import { dialUdp } from '../udp/dial-udp.js';
import { listenUdp } from '../udp/listen-udp.js';
import type { LocalAddresses } from '../udp/local-addresses.js';
import type { UdpTurns } from '../udp/udp-flow.js';
import type { UdpTracker } from '../udp/udp-tracker.js';
import type { Endpoint } from './judge-ports.js';

/** Limit of the TCP connections of all relays. */
export interface RelayedConnections {
  /** Maximum number. */
  readonly total: number;
  /** Takes one connection for a source address; undefined: refused. Disposed when both ends have closed. */
  take(source: string): Disposable | undefined;
}

/** Limits and callbacks of the relays. */
export interface PortRelayOptions {
  readonly connections: RelayedConnections;
  /** Called for both ends of a TCP connection, as that of `listenTcp`, if they are to be read in turns. Default: data is passed on at once. */
  readonly watch?: ((readable: Duplex, end: WatchedEnd) => void) | undefined;
  /** Returns the turns of a new UDP flow from this address, as that of `listenUdp`. Default: datagrams are passed on at once. */
  readonly turnsOf?: ((source: string) => UdpTurns) | undefined;
  /** Called after a change of the state or detail. */
  readonly onChange: (relay: PortRelayStatus) => unknown;
  /** Called when a connection or a datagram was not relayed. */
  readonly onRefused: (relay: PortRelayStatus, error: unknown) => unknown;
}

/** Parts that all relays share. */
export interface SharedParts extends PortRelayOptions {
  readonly flows: UdpTracker;
  readonly addresses: LocalAddresses;
  /** Maximum number of addresses of the host at which one UDP port has a socket of its own. */
  readonly maxAddresses: () => number;
}

/** State of a relay. `busy`: another program uses the listen address. `busy` and `failed` are retried after 1 to 60 s. */
export type RelayState = 'starting' | 'listening' | 'busy' | 'failed';

/** A relay, as it is now. */
export interface PortRelayStatus {
  readonly protocol: 'tcp' | 'udp';
  readonly listen: Endpoint;
  readonly to: Endpoint;
  readonly state: RelayState;
  /** Why the relay does not listen, or does not listen at some addresses of the host; empty while it listens at all of them. */
  readonly detail: string;
}

interface Listener {
  readonly openCount: () => number;
  /** Clauses about addresses at which the port is not reached. */
  readonly problems?: () => readonly string[];
  readonly endFlows?: () => void;
  readonly retry?: () => void;
  readonly close: () => Promise<void>;
}

const BACKOFF = { initialMs: 1_000, maxMs: 60_000 };
const DIAL_TIMEOUT_MS = 10_000;
/** Maximum number of addresses that a detail names. */
const TOLD_PROBLEMS = 3;

export class PortRelay implements PortRelayStatus {
  readonly protocol: 'tcp' | 'udp';
  readonly listen: Endpoint;
  readonly #parts: SharedParts;
  readonly #listening: Reconciler<undefined>;
  #to: Endpoint;
  #listener: Listener | undefined;
  #state: RelayState = 'starting';
  #detail = '';

  constructor(protocol: 'tcp' | 'udp', listen: Endpoint, to: Endpoint, parts: SharedParts) {
    this.protocol = protocol;
    this.listen = listen;
    this.#to = to;
    this.#parts = parts;
    this.#listening = new Reconciler(undefined, {
      pass: () => this.#listen(),
      onFailure: (error, failures) => this.#fail(error, failures),
    });
    this.#listening.wake();
  }

  get to(): Endpoint {
    return this.#to;
  }

  get state(): RelayState {
    return this.#state;
  }

  get detail(): string {
    return this.#detail;
  }

  get openCount(): number {
    return this.#listener?.openCount() ?? 0;
  }

  /** Changes the target. Open TCP connections keep the old one; UDP flows end. */
  leadTo(to: Endpoint): void {
    this.#to = to;
    this.#listener?.endFlows?.();
    this.#parts.onChange(this);
  }

  retry(): void {
    if (this.#state === 'busy' || this.#state === 'failed') this.#listening.wake();
    this.#listener?.retry?.();
  }

  /** Resets open connections and waits until the port is free. Idempotent. */
  async close(): Promise<void> {
    await this.#listening.close();
    await this.#listener?.close();
  }

  async #listen(): Promise<void> {
    this.#listener ??= await (this.protocol === 'tcp' ? this.#listenTcp() : this.#listenUdp());
    this.#hears();
  }

  #fail(error: unknown, failures: number): number {
    const isBusy = error instanceof TunnelError && error.code === 'addressInUse';
    this.#become(isBusy ? 'busy' : 'failed', messageOf(error));
    return backoffMs(BACKOFF, failures);
  }

  #become(state: RelayState, detail: string): void {
    if (state === this.#state && detail === this.#detail) return;
    this.#state = state;
    this.#detail = detail;
    this.#parts.onChange(this);
  }

  #hears(): void {
    if (this.#listener === undefined) return;
    const problems = this.#listener.problems?.() ?? [];
    const more = problems.length - TOLD_PROBLEMS;
    const told = problems.slice(0, TOLD_PROBLEMS).join('; ');
    this.#become('listening', more > 0 ? `${told}; and ${more} more` : told);
  }

  async #listenTcp(): Promise<Listener> {
    const { connections, watch } = this.#parts;
    const listener = await listenTcp({
      ...this.listen,
      ...(watch !== undefined && { watch }),
      maxConnections: connections.total,
      open: (connection) => this.#dial(connection),
      onRefused: (error) => this.#parts.onRefused(this, error),
    });
    return { openCount: () => listener.connectionCount, close: () => listener.close() };
  }

  async #listenUdp(): Promise<Listener> {
    const { flows: tracker, addresses, maxAddresses, turnsOf } = this.#parts;
    const listener = await listenUdp({
      host: this.listen.host,
      port: this.listen.port,
      tracker,
      addresses,
      maxAddresses,
      ...(turnsOf !== undefined && { turnsOf }),
      open: (events) => dialUdp(this.#to, events),
      onRefused: (error) => this.#parts.onRefused(this, error),
      onProblems: () => this.#hears(),
    });
    return {
      openCount: () => listener.flowCount,
      problems: () => listener.problems,
      endFlows: () => listener.endFlows(),
      retry: () => listener.retry(),
      close: () => listener.close(),
    };
  }

  async #dial(connection: PendingConnection): Promise<Socket> {
    const { remoteAddress, signal } = connection;
    const claim = this.#parts.connections.take(remoteAddress);
    if (claim === undefined) {
      const message = `cannot accept a connection from ${remoteAddress}: too many connections`;
      throw new TunnelError('tooManyStreams', message, { port: this.listen.port });
    }
    const socket = dialTcp({ ...this.#to, isReadInTurns: this.#parts.watch !== undefined });
    socket.setKeepAlive(true, 30_000);
    let openEnds = 2;
    const closed = (): void => {
      openEnds -= 1;
      if (openEnds === 0) claim[Symbol.dispose]();
    };
    connection.onceClosed(closed);
    socket.on('error', () => undefined).once('close', closed);
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
