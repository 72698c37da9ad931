import type { RemoteInfo } from 'node:dgram';
import type { LocalAddresses } from './local-addresses.js';
import type { UdpFlow, UdpFlowEvents } from './udp-flow.js';
import { UdpSockets } from './udp-sockets.js';
import { UdpTracker, type TrackedFlow } from './udp-tracker.js';

export interface ListenUdpOptions {
  /**
   * The literal address to listen on. `0.0.0.0` stands for all IPv4 addresses of this host, and `::` for all its addresses. Each address then has a
   * socket of its own, so that an answer leaves from the address that was asked.
   */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Opens the flow of one source. If it throws, the datagram is dropped. */
  readonly open: (events: UdpFlowEvents) => UdpFlow;
  /** Limits and time-outs, which several listeners may share. Default: a separate tracker for 1,024 flows. */
  readonly tracker?: UdpTracker;
  /** Addresses of this host, which several listeners may share. Default: a separate list. */
  readonly addresses?: LocalAddresses;
  /**
   * Maximum number of addresses with a socket of their own; more share one socket, and the system selects the address of its answers. Called after
   * each change. Default 64.
   */
  readonly maxAddresses?: () => number;
  /** Called when a flow was refused or ended with an error, at most once in 500 ms. Must not throw. */
  readonly onRefused?: (error: unknown) => void;
  /** Called when {@link UdpListener.problems} has changed. Must not throw. */
  readonly onProblems?: () => void;
}

/** A published UDP port. The caller closes the listener. */
export interface UdpListener extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly flowCount: number;
  /** Number of datagrams dropped because their sources got no flow. */
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
// eslint-disable-next-line @typescript-eslint/require-await -- Reports failures like the listener of TCP, by its promise.
export async function listenUdp(options: ListenUdpOptions): Promise<UdpListener> {
  return new PublishedUdpPort(options);
}

interface SourceFlow {
  readonly tracked: TrackedFlow;
  readonly flow: UdpFlow;
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
    this.#options = options;
    this.#tracker = options.tracker ?? new UdpTracker();
    this.#sockets = new UdpSockets(options, {
      onDatagram: (at, datagram, from) => this.#take(at, datagram, from),
      onError: (error) => this.#refused(error),
      onProblems: () => options.onProblems?.(),
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
    for (const { tracked, flow } of this.#flows.values()) {
      tracked.release();
      flow.close();
    }
    this.#flows.clear();
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
    const known = this.#flows.get(key) ?? this.#open(key, at, from);
    if (known === undefined) {
      this.dropped += 1;
      return;
    }
    known.tracked.sent();
    known.flow.send(datagram);
  }

  #open(key: string, at: string, { address, port }: RemoteInfo): SourceFlow | undefined {
    if (performance.now() < this.#restsUntil) return undefined;
    const end = (): void => {
      const ended = this.#flows.get(key);
      this.#flows.delete(key);
      ended?.flow.close();
    };
    const tracked = this.#tracker.track(address, end);
    if (tracked === undefined) return undefined;
    try {
      const flow = this.#options.open({
        onDatagram: (datagram) => {
          if (this.#flows.get(key)?.tracked !== tracked) return;
          tracked.replied();
          this.#sockets.send(at, datagram, port, address);
        },
        onEnd: (error) => {
          if (this.#flows.get(key)?.tracked !== tracked) return;
          tracked.release();
          this.#flows.delete(key);
          if (error !== undefined) this.#refused(error);
        },
      });
      const opened = { tracked, flow };
      this.#flows.set(key, opened);
      return opened;
    } catch (error) {
      tracked.release();
      this.#refused(error);
      return undefined;
    }
  }

  #refused(error: unknown): void {
    const now = performance.now();
    if (now < this.#restsUntil) return;
    this.#restsUntil = now + REST_MS;
    this.#options.onRefused?.(error);
  }
}
