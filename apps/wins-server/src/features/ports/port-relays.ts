import { messageOf, type ClientIdentity } from '@wins/base';
import type { HostPortSettings } from '@wins/config';
import {
  dialError,
  dialTcp,
  dialUdp,
  listenTcp,
  listenUdp,
  LocalAddresses,
  TunnelError,
  UdpTracker,
  type PendingConnection,
} from '@wins/tcp-tunnel';
import { backoffMs, Reconciler } from '@wins/time';
import { once } from 'node:events';
import type { Socket } from 'node:net';
import type { ClientScheduler } from '../../kernel/admission/client-scheduler.js';
import type { ResourceRow } from '../../kernel/admission/resources.js';
import type { Shares } from '../../kernel/admission/shares.js';
import { judgePorts, type Endpoint, type JudgedPort, type PortFacts } from './judge-ports.js';

export interface RelayParts {
  /** Limits the connections of all relays, in total and per source address. */
  readonly connections: Pick<Shares, 'take' | 'row'>;
  readonly flows: UdpTracker;
  /** Divides the processor time. Each source address is a client, whatever ports it uses. */
  readonly scheduler: Pick<ClientScheduler, 'watch' | 'tasksOf'>;
  readonly addresses: LocalAddresses;
  /** Maximum number of addresses of the host at which one UDP port has a socket of its own. */
  readonly maxAddresses: () => number;
  readonly onChange: (relay: PortRelay) => void;
  /** Called when a connection or a datagram was not relayed. It must not throw. */
  readonly onRefused: (relay: PortRelay, error: unknown) => void;
}

/** State of a relay. `busy`: another program uses the listen address. `busy` and `failed` are retried after 1 to 60 s. */
export type RelayState = 'starting' | 'listening' | 'busy' | 'failed';

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
/** Maximum number of addresses at which one UDP port has a socket of its own. */
const MOST_ADDRESSES = 64;
const ANY = '0.0.0.0';
/** Connections of one source address with waiting input. Each waits with some 128 KiB. Clients behind one address should not hold up each other. */
const MOST_WAITING = 64;
/** Name of the turns of relayed data in the log. */
const TURN = 'relayed port';

export class PortRelay {
  readonly protocol: 'tcp' | 'udp';
  readonly listen: Endpoint;
  readonly #parts: RelayParts;
  readonly #listening: Reconciler<undefined>;
  #to: Endpoint;
  #listener: Listener | undefined;
  #state: RelayState = 'starting';
  #detail = '';

  constructor(protocol: 'tcp' | 'udp', listen: Endpoint, to: Endpoint, parts: RelayParts) {
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

  /** Why the relay does not listen, or does not listen at some addresses of the host; empty while it listens at all of them. */
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
    const { scheduler } = this.#parts;
    const listener = await listenTcp({
      ...this.listen,
      watch: (readable, { remoteAddress, mayRead }) => {
        const client = sourceOf(remoteAddress);
        scheduler.watch(readable, { client, what: TURN, mayRead, mostWaiting: MOST_WAITING });
      },
      maxConnections: this.#parts.connections.row.total,
      open: (connection) => this.#dial(connection),
      onRefused: (error) => this.#parts.onRefused(this, error),
    });
    return { openCount: () => listener.connectionCount, close: () => listener.close() };
  }

  async #listenUdp(): Promise<Listener> {
    const { flows: tracker, addresses, maxAddresses, scheduler } = this.#parts;
    const listener = await listenUdp({
      host: this.listen.host,
      port: this.listen.port,
      tracker,
      addresses,
      maxAddresses,
      turnsOf: (source) => scheduler.tasksOf(sourceOf(source), TURN),
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

  async #dial({ remoteAddress, signal }: PendingConnection): Promise<Socket> {
    const claim = this.#parts.connections.take(sourceOf(remoteAddress));
    if (claim === undefined) {
      const message = `cannot accept a connection from ${remoteAddress}: too many connections`;
      throw new TunnelError('tooManyStreams', message, { port: this.listen.port });
    }
    const socket = dialTcp({ ...this.#to, isReadInTurns: true });
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

/** Returns a client identity for a source address, because `Shares` and `ClientScheduler` divide among clients. */
function sourceOf(address: string): ClientIdentity {
  return {
    key: `address ${address}`,
    isAdministrator: false,
    isEverybody: false,
    description: { address },
    names: [],
  };
}

/** State of a desired port. `rejected`: it may not be relayed. `down`: an administrator has closed it. */
export interface PortStanding {
  readonly proto: 'tcp' | 'udp';
  readonly listen: string;
  readonly to: string;
  readonly state: RelayState | 'rejected' | 'down';
  readonly detail: string;
  readonly open: number;
}

export interface PortRelaysOptions extends Omit<
  RelayParts,
  'flows' | 'addresses' | 'maxAddresses'
> {
  readonly flows: Pick<ResourceRow, 'total'>;
  /** Sockets on which UDP ports listen. The ports that listen on all addresses share them equally. */
  readonly sockets: Pick<ResourceRow, 'total'>;
}

export class PortRelays implements AsyncDisposable {
  readonly #parts: RelayParts;
  /** Relays by protocol and listen address, so that each port has one owner. */
  readonly #relays = new Map<string, PortRelay>();
  readonly #closing = new Set<Promise<void>>();
  readonly refusals = { tcp: 0, udp: 0 };
  #judged: readonly JudgedPort[] = [];
  #isDown = false;

  constructor({ flows: { total }, sockets, ...parts }: PortRelaysOptions) {
    this.#parts = {
      ...parts,
      // One address gets at most a quarter of the flows, so that it cannot use them all.
      flows: new UdpTracker({ most: total, mostOfSource: total / 4 }),
      addresses: new LocalAddresses(),
      maxAddresses: () => {
        const each = Math.floor(sockets.total / Math.max(1, this.#portsOnAllAddresses));
        return Math.min(MOST_ADDRESSES, each);
      },
      onRefused: (relay, error) => {
        this.refusals[relay.protocol] += 1;
        parts.onRefused(relay, error);
      },
    };
  }

  get standings(): readonly PortStanding[] {
    return this.#judged.map(({ wanted, refusal }) => {
      const { proto, listen, to } = wanted;
      const relay = this.#relays.get(keyOf(wanted));
      const stands =
        refusal !== undefined
          ? { state: 'rejected' as const, detail: refusal, open: 0 }
          : relay === undefined
            ? { state: 'down' as const, detail: '', open: 0 }
            : { state: relay.state, detail: relay.detail, open: relay.openCount };
      return { proto, listen, to, ...stands };
    });
  }

  /** Starts and closes relays to match `ports`. A relay with a new target keeps its listener. */
  want(ports: readonly HostPortSettings[], facts: PortFacts): void {
    this.#judged = judgePorts(ports, facts);
    this.#reconcile();
  }

  setDown(isDown: boolean): void {
    this.#isDown = isDown;
    this.#reconcile();
    for (const relay of this.#relays.values()) relay.retry();
  }

  async close(): Promise<void> {
    this.#judged = [];
    this.#reconcile();
    await Promise.all(this.#closing);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  get #portsOnAllAddresses(): number {
    let count = 0;
    for (const { protocol, listen } of this.#relays.values())
      if (protocol === 'udp' && listen.host === ANY) count += 1;
    return count;
  }

  #reconcile(): void {
    const wanted = this.#judged.filter(({ refusal }) => refusal === undefined && !this.#isDown);
    const keys = new Set(wanted.map(({ wanted: port }) => keyOf(port)));
    for (const [key, relay] of this.#relays) {
      if (keys.has(key)) continue;
      this.#relays.delete(key);
      const closed = relay.close().finally(() => this.#closing.delete(closed));
      this.#closing.add(closed);
    }
    for (const { wanted: port, listen, to } of wanted) {
      const key = keyOf(port);
      const relay = this.#relays.get(key);
      if (relay === undefined)
        this.#relays.set(key, new PortRelay(port.proto, listen, to, this.#parts));
      else if (relay.to.host !== to.host || relay.to.port !== to.port) relay.leadTo(to);
    }
  }
}

function keyOf({ proto, listen }: HostPortSettings): string {
  return `${proto} ${listen}`;
}
