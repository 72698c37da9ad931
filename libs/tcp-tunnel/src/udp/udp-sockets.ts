import { errnoOf } from '@wins/base';
import { Backoff } from '@wins/time';
import type { RemoteInfo, Socket } from 'node:dgram';
import { listenError, type TunnelError } from '../tunnel-error.js';
import { literalSocket } from './dial-udp.js';
import { LocalAddresses, type LocalAddress } from './local-addresses.js';
import { MOST_UNSENT_BYTES } from './udp-flow.js';

export interface UdpSocketsOptions {
  /** The literal address. `0.0.0.0` means all IPv4 addresses of this host, and `::` all its addresses. */
  readonly host: string;
  readonly port: number;
  /** Default: asks the system once a second. */
  readonly addresses?: LocalAddresses | undefined;
  /** Default 64. */
  readonly maxAddresses?: (() => number) | undefined;
}

export interface UdpSocketsEvents {
  /** `at` names the socket for {@link UdpSockets.send}. It stays the same when an address is lost and comes back. */
  readonly onDatagram: (at: string, datagram: Buffer, from: RemoteInfo) => void;
  readonly onError: (error: TunnelError) => void;
  readonly onProblems: () => void;
}

interface Entry {
  readonly address: LocalAddress;
  socket?: Socket | undefined;
  problem?: TunnelError | undefined;
  retryAt: number;
  readonly backoff: Backoff;
}

const RETRY = { initialMs: 1_000, maxMs: 60_000 };
const MOST_ADDRESSES = 64;
/** A datagram to an address without a socket reaches the socket of all addresses, if the system lets both exist. Only Windows does. */
const HAS_BOTH = process.platform === 'win32';

/**
 * The sockets of a UDP port. Each address of the host has a socket of its own, because a socket of all addresses answers from the address that the
 * route to the asker selects. An asker with a connected socket drops the answer if that is not the address that it asked.
 *
 * On Windows, a socket of all addresses exists besides. It keeps the port from other programs, and receives broadcasts and datagrams to addresses
 * that are new. Elsewhere the sockets of the addresses keep other programs from listening on all addresses.
 */
export class UdpSockets {
  readonly #options: UdpSocketsOptions;
  readonly #events: UdpSocketsEvents;
  readonly #entries = new Map<string, Entry>();
  readonly #closing = new Set<Promise<unknown>>();
  readonly #addresses: LocalAddresses | undefined;
  readonly #following: Disposable | undefined;
  #port: number;
  #seen: readonly LocalAddress[] | undefined;
  /** Those of `#seen` that the port listens on. */
  #known: readonly LocalAddress[] = [];
  #most = 0;
  #problems = '';
  #isClosed = false;

  /** @throws {TunnelError} `addressInUse`, `addressDenied`, `listenFailed` when no address has a socket. */
  constructor(options: UdpSocketsOptions, events: UdpSocketsEvents) {
    this.#options = options;
    this.#events = events;
    this.#port = options.port;
    if (isWildcard(options.host)) {
      this.#addresses = options.addresses ?? new LocalAddresses();
      this.#following = this.#addresses.follow(() => this.#look());
    }
    this.#look();
    const failed = [...this.#entries.values()].flatMap(({ problem }) => problem ?? []);
    if (failed[0] === undefined || this.#hasSocket) return;
    void this.close();
    throw this.#problemOf(options.host, failed[0].cause);
  }

  get port(): number {
    return this.#port;
  }

  /** Addresses at which the port is not reached, with the reason, and other limits, as sentences. */
  get problems(): readonly string[] {
    const count = this.#known.length;
    const most = this.#most;
    const limit = `answers may leave from another address than the one asked: found ${count} addresses; wanted at most ${most}`;
    return [
      ...(count > most ? [limit] : []),
      ...[...this.#entries.values()].flatMap(({ problem }) => problem?.message ?? []),
    ];
  }

  /** Drops the datagram while the address has no socket. */
  send(at: string, datagram: Buffer, port: number, host: string): void {
    const socket = this.#entries.get(at)?.socket;
    if (socket === undefined || socket.getSendQueueSize() > MOST_UNSENT_BYTES) return;
    socket.send(datagram, port, host, () => undefined);
  }

  /** Tries the failed addresses at once. */
  retry(): void {
    for (const entry of this.#entries.values()) entry.retryAt = 0;
    this.#look();
  }

  /** Waits until the port is free. Idempotent. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#following?.[Symbol.dispose]();
    for (const entry of this.#entries.values()) this.#closeSocket(entry);
    this.#entries.clear();
    await Promise.all(this.#closing);
  }

  get #hasSocket(): boolean {
    return [...this.#entries.values()].some(({ socket }) => socket !== undefined);
  }

  #look(): void {
    if (this.#isClosed) return;
    this.#choose();
    const now = performance.now();
    for (const entry of this.#entries.values())
      if (entry.socket === undefined && now >= entry.retryAt) this.#bind(entry, now);
    const problems = this.problems.join('\n');
    if (problems === this.#problems) return;
    this.#problems = problems;
    this.#events.onProblems();
  }

  /** Brings the entries in line with the addresses of the host. */
  #choose(): void {
    const { host, maxAddresses } = this.#options;
    const family = host.includes(':') ? 'IPv6' : 'IPv4';
    const all: LocalAddress = { host, family, key: host };
    if (this.#addresses === undefined) {
      if (this.#entries.size === 0) this.#add(all);
      return;
    }
    const { current } = this.#addresses;
    const most = Math.max(1, maxAddresses?.() ?? MOST_ADDRESSES);
    if (current === this.#seen && most === this.#most) return;
    const known = family === 'IPv6' ? current : current.filter((one) => one.family === family);
    const before = new Set(this.#known.map(({ key }) => key));
    [this.#seen, this.#known, this.#most] = [current, known, most];
    // Without a socket of all addresses, an address that is not listed may still be asked: the system lists no address of an adapter whose cable
    // is out. Such sockets stay until the host has more addresses than allowed.
    const lost = HAS_BOTH ? [] : this.#lostOf(known);
    const each = [...known, ...lost].slice(0, most);
    const isAll = known.length === 0 || (!HAS_BOTH && known.length > most);
    const wanted = isAll ? [all] : HAS_BOTH ? [all, ...each] : each;
    const keys = new Set(wanted.map(({ key }) => key));
    for (const [key, entry] of this.#entries) {
      // The adapter of an address that comes back may be another one.
      const isBack = !before.has(key) && known.some((one) => one.key === key);
      if (keys.has(key) && !isBack) continue;
      this.#closeSocket(entry);
      this.#entries.delete(key);
    }
    for (const address of wanted) if (!this.#entries.has(address.key)) this.#add(address);
  }

  #lostOf(known: readonly LocalAddress[]): readonly LocalAddress[] {
    const keys = new Set(known.map(({ key }) => key));
    return [...this.#entries.values()].flatMap(({ address, socket }) =>
      socket !== undefined && !keys.has(address.key) && !isWildcard(address.host) ? address : [],
    );
  }

  #add(address: LocalAddress): void {
    this.#entries.set(address.key, { address, retryAt: 0, backoff: new Backoff(RETRY) });
  }

  #bind(entry: Entry, now: number): void {
    const { host, family, key } = entry.address;
    const socket = literalSocket(family === 'IPv4' ? 'udp4' : 'udp6');
    let failure: unknown;
    const noteFailure = (cause: unknown): void => {
      failure ??= cause;
    };
    socket.on('error', noteFailure);
    try {
      socket.bind({ address: host, port: this.#port, exclusive: true });
    } catch (cause) {
      noteFailure(cause);
    }
    if (failure !== undefined) {
      socket.close();
      entry.retryAt = now + entry.backoff.nextMs();
      const problem = this.#problemOf(host, failure);
      // An address that was just removed, or that the system still checks for duplicates, is no problem.
      entry.problem = this.#addresses !== undefined && isUnavailable(failure) ? undefined : problem;
      return;
    }
    entry.problem = undefined;
    entry.backoff.reset();
    entry.socket = socket;
    this.#port = socket.address().port;
    socket.off('error', noteFailure);
    socket.on('message', (datagram, from) => this.#events.onDatagram(key, datagram, from));
    socket.on('error', (cause) => {
      this.#events.onError(this.#problemOf(host, cause));
      if (this.#addresses !== undefined) this.#closeSocket(entry);
    });
  }

  #closeSocket(entry: Entry): void {
    const { socket } = entry;
    if (socket === undefined) return;
    entry.socket = undefined;
    const closed = new Promise((resolve) => socket.once('close', resolve));
    this.#closing.add(closed);
    void closed.then(() => this.#closing.delete(closed));
    socket.close();
  }

  #problemOf(host: string, cause: unknown): TunnelError {
    return listenError({ host, port: this.#port, protocol: 'udp' }, cause);
  }
}

/** Accepts each spelling of the address zero, such as `0:0::0`. */
function isWildcard(host: string): boolean {
  return /^[0:.]+$/.test(host);
}

function isUnavailable(cause: unknown): boolean {
  return errnoOf(cause) === 'EADDRNOTAVAIL';
}
