import { reporter } from '@wins/base';
import type { RemoteInfo } from 'node:dgram';
import type { LocalAddresses } from './local-addresses.js';
import type { UdpFlow, UdpFlowEvents, UdpTurns } from './udp-flow.js';
import { UdpSockets } from './udp-sockets.js';
import { UdpTracker, type TrackedFlow } from './udp-tracker.js';

/** Options of {@link listenUdp}. */
export interface ListenUdpOptions {
  /**
   * The literal address to listen on. `0.0.0.0` stands for all IPv4 addresses of this host, and `::` for all its addresses. Each address then has a
   * socket of its own, so that an answer leaves from the address that was asked.
   */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Opens the flow of one source. If it throws, the datagram is dropped. */
  readonly open: (events: UdpFlowEvents) => Pick<UdpFlow, 'send' | 'close'>;
  /** Returns the turns of a new flow from this address. Default: datagrams are passed on at once. */
  readonly turnsOf?: ((source: string) => UdpTurns) | undefined;
  /** Limits and time-outs, which several listeners may share. Default: a separate tracker for 1,024 flows. */
  readonly tracker?: UdpTracker | undefined;
  /** Addresses of this host, which several listeners may share. Default: a separate list. */
  readonly addresses?: LocalAddresses | undefined;
  /**
   * Maximum number of addresses with a socket of their own; more share one socket, and the system selects the address of its answers. Called after
   * each change. Default 64.
   */
  readonly maxAddresses?: (() => number) | undefined;
  /** Called when a flow was refused or ended with an error, at most once in 500 ms. */
  readonly onRefused?: ((error: unknown) => unknown) | undefined;
  /** Called when {@link UdpListener.problems} has changed. */
  readonly onProblems?: (() => unknown) | undefined;
}

/** A published UDP port. The caller closes the listener. */
export interface UdpListener extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly flowCount: number;
  /** Number of datagrams dropped because their sources got no flow or no turn. */
  readonly dropped: number;
  /** Reasons why the port is not reached at some addresses of the host, as clauses. Tried again after 1 to 60 s. */
  readonly problems: readonly string[];
  /** Tries the addresses with problems at once. */
  retry(): void;
  /** Ends all flows; the next datagram of a source opens a new flow. */
  endFlows(): void;
  /** Ends all flows and waits until the port is free. Idempotent. */
  close(): Promise<void>;
}

/**
 * Pause in milliseconds after a failed flow. During the pause, the listener opens no new flow, because each attempt
 * causes work for the peer.
 */
const REST_MS = 500;

/**
 * Listens on a UDP port and carries the datagrams of each source address and port through a flow of its own; answers go
 * only to that source.
 *
 * @throws {TunnelError} `addressInUse`, `addressDenied`, `listenFailed`, when the port is not reached at any address.
 */
// oxlint-disable-next-line typescript/require-await -- Reports failures like the listener of TCP, by its promise.
export async function listenUdp(options: ListenUdpOptions): Promise<UdpListener> {
  return new PublishedUdpPort(options);
}

const AT_ONCE: UdpTurns = {
  run: (_bytes, pass) => {
    pass();
    return true;
  },
  close: () => undefined,
};

interface SourceFlow {
  readonly key: string;
  /** Socket that was asked; see `UdpSockets.send`. */
  readonly at: string;
  readonly address: string;
  readonly port: number;
  readonly tracked: TrackedFlow;
  readonly turns: UdpTurns;
  /** Undefined until the first datagram has its turn. */
  flow: Pick<UdpFlow, 'send' | 'close'> | undefined;
}

class PublishedUdpPort implements UdpListener {
  readonly host: string;
  dropped = 0;
  readonly #sockets: UdpSockets;
  readonly #options: ListenUdpOptions;
  readonly #tracker: UdpTracker;
  /** Flows by the address that was asked, and by their source. */
  readonly #flows = new Map<string, SourceFlow>();
  #restsUntil = 0;

  constructor(options: ListenUdpOptions) {
    this.host = options.host;
    this.#options = { ...options, onRefused: reporter(options.onRefused) };
    this.#tracker = options.tracker ?? new UdpTracker();
    this.#sockets = new UdpSockets(options, {
      onDatagram: (at, datagram, from) => this.#take(at, datagram, from),
      onError: (error) => this.#refused(error),
      onProblems: reporter(options.onProblems),
    });
  }

  get port(): number {
    return this.#sockets.port;
  }

  get flowCount(): number {
    return this.#flows.size;
  }

  get problems(): readonly string[] {
    return this.#sockets.problems;
  }

  retry(): void {
    this.#sockets.retry();
  }

  endFlows(): void {
    for (const source of [...this.#flows.values()]) {
      source.tracked.release();
      this.#end(source);
    }
  }

  async close(): Promise<void> {
    const closed = this.#sockets.close();
    this.endFlows();
    await closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #take(at: string, datagram: Buffer, from: RemoteInfo): void {
    const key = `${at} ${from.address} ${from.port}`;
    const source = this.#flows.get(key) ?? this.#begin(key, at, from);
    source?.tracked.sent();
    const isTaken = source?.turns.run(datagram.length, () => this.#pass(source, datagram));
    if (isTaken !== true) this.dropped += 1;
  }

  #begin(key: string, at: string, { address, port }: RemoteInfo): SourceFlow | undefined {
    if (performance.now() < this.#restsUntil) return undefined;
    const tracked = this.#tracker.track(address, () => this.#end(source));
    if (tracked === undefined) return undefined;
    const turns = this.#options.turnsOf?.(address) ?? AT_ONCE;
    const source: SourceFlow = { key, at, address, port, tracked, turns, flow: undefined };
    this.#flows.set(key, source);
    return source;
  }

  #pass(source: SourceFlow, datagram: Buffer): void {
    // The flow may have ended before its turn.
    if (!this.#isOpen(source)) return;
    source.flow ??= this.#open(source);
    source.flow?.send(datagram);
  }

  #open(source: SourceFlow): SourceFlow['flow'] {
    const { at, address, port, tracked, turns } = source;
    const fail = (error?: unknown): void => {
      source.flow = undefined;
      tracked.release();
      this.#end(source);
      if (error !== undefined) this.#refused(error);
    };
    const answer = (datagram: Buffer): void => {
      if (this.#isOpen(source)) this.#sockets.send(at, datagram, port, address);
    };
    try {
      return this.#options.open({
        onDatagram: (datagram) => {
          if (!this.#isOpen(source)) return;
          tracked.replied();
          if (!turns.run(datagram.length, () => answer(datagram))) this.dropped += 1;
        },
        onEnd: (error) => {
          if (this.#isOpen(source)) fail(error);
        },
      });
    } catch (error) {
      fail(error);
      return undefined;
    }
  }

  #isOpen(source: SourceFlow): boolean {
    return this.#flows.get(source.key) === source;
  }

  #end(source: SourceFlow): void {
    if (!this.#isOpen(source)) return;
    this.#flows.delete(source.key);
    source.turns.close();
    source.flow?.close();
  }

  #refused(error: unknown): void {
    const now = performance.now();
    if (now < this.#restsUntil) return;
    this.#restsUntil = now + REST_MS;
    this.#options.onRefused?.(error);
  }
}
