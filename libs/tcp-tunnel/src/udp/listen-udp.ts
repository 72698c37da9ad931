import { once } from 'node:events';
import type { RemoteInfo, Socket } from 'node:dgram';
import { listenError } from '../tunnel-error.js';
import { literalSocket } from './dial-udp.js';
import { MOST_UNSENT_BYTES, type UdpFlow, type UdpFlowEvents } from './udp-flow.js';
import { UdpTracker, type TrackedFlow } from './udp-tracker.js';

export interface ListenUdpOptions {
  /** The literal address to listen on; `::` also accepts IPv4. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Opens the flow of one source. If it throws, the datagram is dropped. */
  readonly open: (events: UdpFlowEvents) => UdpFlow;
  /** Limits and time-outs, which several listeners may share. Default: a separate tracker for 1,024 flows. */
  readonly tracker?: UdpTracker;
  /** Called when a flow was refused or ended with an error, at most once in 500 ms. Must not throw. */
  readonly onRefused?: (error: unknown) => void;
}

/** A published UDP port. The caller closes the listener. */
export interface UdpListener extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly flowCount: number;
  /** Number of datagrams dropped because their sources got no flow. */
  readonly dropped: number;
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
 * @throws {TunnelError} `addressInUse`, `addressDenied`, `listenFailed`.
 */
export async function listenUdp(options: ListenUdpOptions): Promise<UdpListener> {
  const { host, port } = options;
  const socket = literalSocket(host.includes(':') ? 'udp6' : 'udp4');
  try {
    const listening = once(socket, 'listening');
    socket.bind({ address: host, port, exclusive: true });
    await listening;
  } catch (cause) {
    socket.close();
    throw listenError(host, port, cause);
  }
  return new PublishedUdpPort(socket, options);
}

interface SourceFlow {
  readonly tracked: TrackedFlow;
  readonly flow: UdpFlow;
}

class PublishedUdpPort implements UdpListener {
  readonly host: string;
  readonly port: number;
  dropped = 0;
  readonly #socket: Socket;
  readonly #options: ListenUdpOptions;
  readonly #tracker: UdpTracker;
  readonly #flows = new Map<string, SourceFlow>();
  #restsUntil = 0;
  #closed: Promise<unknown> | undefined;

  constructor(socket: Socket, options: ListenUdpOptions) {
    this.host = options.host;
    this.port = socket.address().port;
    this.#socket = socket;
    this.#options = options;
    this.#tracker = options.tracker ?? new UdpTracker();
    socket.on('message', (datagram, from) => this.#take(datagram, from));
    socket.on('error', (cause) => this.#refused(listenError(this.host, this.port, cause)));
  }

  get flowCount(): number {
    return this.#flows.size;
  }

  endFlows(): void {
    for (const { tracked, flow } of this.#flows.values()) {
      tracked.release();
      flow.close();
    }
    this.#flows.clear();
  }

  async close(): Promise<void> {
    if (this.#closed === undefined) {
      this.#closed = once(this.#socket, 'close');
      this.#socket.close();
      this.endFlows();
    }
    await this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #take(datagram: Buffer, from: RemoteInfo): void {
    const key = `${from.address} ${from.port}`;
    const known = this.#flows.get(key) ?? this.#open(key, from);
    if (known === undefined) {
      this.dropped += 1;
      return;
    }
    known.tracked.sent();
    known.flow.send(datagram);
  }

  #open(key: string, { address, port }: RemoteInfo): SourceFlow | undefined {
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
          this.#reply(datagram, port, address);
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

  #reply(datagram: Buffer, port: number, address: string): void {
    if (this.#socket.getSendQueueSize() > MOST_UNSENT_BYTES) return;
    this.#socket.send(datagram, port, address, () => undefined);
  }

  #refused(error: unknown): void {
    const now = performance.now();
    if (now < this.#restsUntil) return;
    this.#restsUntil = now + REST_MS;
    this.#options.onRefused?.(error);
  }
}
