import { reporter, type Complete } from '@wins/base';
import type { Socket } from 'node:net';
import { connectWebSocket, type TunnelAddress } from './connect-web-socket.js';
import type { TunnelEnd } from './session/session-state.js';
import { isTcpPort } from './tcp/destination-policy.js';
import { listenTcp, type TcpListener } from './tcp/tcp-listener.js';
import { TunnelError } from './tunnel-error.js';
import type { TunnelWebSocket } from './web-socket/web-socket-options.js';
import { streamLimit, type TunnelOptions } from './stream/session-settings.js';
import type { TunnelStream } from './stream/tunnel-stream.js';
import type { UdpFlow, UdpFlowEvents } from './udp/udp-flow.js';
import { SessionTunnel, type Tunnel } from './tunnel.js';

/** A port of the daemon's host, and the local address and port that lead to it. */
export interface PublishedPort {
  /** The port of the host; the daemon's config must list it. */
  readonly hostPort: number;
  /** Local port; 0 lets the system choose. Default: `hostPort`. */
  readonly port?: number | undefined;
  /** Literal address to listen on. Default: 127.0.0.1, which other machines cannot reach. */
  readonly host?: string | undefined;
}

/** Options of {@link openTunnel}. */
export interface PublishOptions extends OpenTunnelOptions, TunnelAddress {
  /** Ports of the daemon's host. A plain number is both the `hostPort` and the local `port`. */
  readonly publish: readonly (number | PublishedPort)[];
  /** Called with the reason when a connection gets no stream; other connections continue. */
  readonly onRefused?: ((error: unknown) => unknown) | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Ports of the host, published locally. The caller closes the tunnel. */
export interface PublishedTunnel extends AsyncDisposable {
  /** Local address of each port, in the order of `publish`. */
  readonly ports: readonly Complete<PublishedPort>[];
  /** Resolves once the tunnel has ended and all ports are closed. Never rejects. */
  readonly closed: Promise<TunnelEnd>;
  /** Accepts no more connections, and resolves when the open ones have ended. */
  drain(): Promise<void>;
  /** Resets the open connections and resolves when everything is closed. Idempotent. */
  close(): Promise<void>;
}

async function publishPorts(
  options: PublishOptions,
  begin: (socket: TunnelWebSocket, connection: Socket) => ClientTunnel,
): Promise<PublishedTunnel> {
  const wanted = options.publish.map(complete);
  const onRefused = reporter(options.onRefused);
  const tunnel = await connectWebSocket(options, begin);
  const listeners: TcpListener[] = [];
  const closeListeners = () => Promise.all(listeners.map((listener) => listener.close()));
  const close = async (): Promise<void> => {
    await Promise.all([closeListeners(), tunnel.close()]);
  };
  try {
    for (const { host, port, hostPort } of wanted) {
      const open = () => tunnel.connect(hostPort).once('error', onRefused);
      listeners.push(
        await listenTcp({ host, port, open, maxConnections: options.maxStreams, onRefused }),
      );
    }
  } catch (error) {
    await close();
    throw error;
  }
  return {
    ports: wanted.map((given, index) => ({ ...given, port: listeners[index]?.port ?? given.port })),
    closed: tunnel.closed.then(async (end) => {
      await closeListeners();
      return end;
    }),
    drain: async () => {
      await Promise.all(listeners.map((listener) => listener.drain()));
      await tunnel.drain();
      await close();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function complete(given: number | PublishedPort): Complete<PublishedPort> {
  const {
    hostPort,
    port = hostPort,
    host = '127.0.0.1',
  } = typeof given === 'number' ? { hostPort: given } : given;
  for (const wanted of [hostPort, port === 0 ? hostPort : port])
    if (!isTcpPort(wanted))
      throw new TunnelError('invalidPort', `cannot publish port ${wanted}; wanted 1 to 65535`);
  return { hostPort, port, host };
}

/**
 * Publishes ports of the daemon's host locally, until the tunnel ends or is closed. Does not reconnect a lost tunnel.
 *
 * @throws {TunnelError} `invalidOption`, `invalidPort`; `unreachable` if no tunnel server answers on the pipe;
 * `addressInUse`, `addressDenied`, `listenFailed`; `aborted`. On failure, nothing is left open.
 */
export function openTunnel(options: PublishOptions): Promise<PublishedTunnel>;
/**
 * Starts the client role on an open WebSocket, which the tunnel then owns. Call it synchronously in the WebSocket's
 * `open` handler, so that no message is missed.
 *
 * @throws {TunnelError} `webSocketNotOpen`, `invalidOption`.
 */
export function openTunnel(socket: TunnelWebSocket, options?: OpenTunnelOptions): ClientTunnel;
export function openTunnel(
  first: TunnelWebSocket | PublishOptions,
  options: OpenTunnelOptions = {},
): ClientTunnel | Promise<PublishedTunnel> {
  if (!('publish' in first)) return new ClientEnd(first, options);
  return publishPorts(
    first,
    (socket, localConnection) => new ClientEnd(socket, { ...first, localConnection }),
  );
}

/** Options of {@link openTunnel}. */
export interface OpenTunnelOptions extends TunnelOptions {
  /** Maximum number of concurrent streams. Default 1,024, at most 16,384. Exceeding it throws `tooManyStreams`. */
  readonly maxStreams?: number | undefined;
}

/** The side that opens streams. */
export interface ClientTunnel extends Tunnel {
  /**
   * True when the peer supports the extensions of this project, unlike a Go server. Valid once a probe was answered.
   */
  readonly isPeerExtended: boolean;
  /** True when the peer carries datagrams. Valid once a probe was answered. */
  readonly carriesDatagrams: boolean;
  /**
   * Sends a ping. Resolves with true when the peer answers, or with false if the tunnel ends first. Has no time-out.
   *
   * A peer answers after it has read all earlier messages. A Go server that has refused a Connect never answers.
   */
  probe(): Promise<boolean>;
  /**
   * Opens a stream to a loopback port at the other end. The protocol has no acknowledgement, so data may be written
   * at once. A refusal arrives as the stream's `error`. The caller must listen for `error`, and end or destroy the stream. The
   * signal destroys the stream with `aborted`.
   *
   * @throws {TunnelError} `invalidPort`, `draining`, `sessionEnded`, `tooManyStreams`, `aborted`.
   */
  connect(port: number, options?: { readonly signal?: AbortSignal | undefined }): TunnelStream;
  /**
   * Opens a UDP flow to a loopback port at the other end. The other end closes an idle flow after 30 s, or after 120 s
   * once datagrams went both ways. A refusal arrives in `onEnd`. The caller must close the flow, and limit the number
   * of flows.
   *
   * @throws {TunnelError} `noDatagrams` when the daemon is too old; `invalidPort`, `draining`, `sessionEnded`.
   */
  openFlow(port: number, events: UdpFlowEvents): UdpFlow;
}

class ClientEnd extends SessionTunnel implements ClientTunnel {
  readonly #maxStreams: number;

  constructor(socket: TunnelWebSocket, options: OpenTunnelOptions) {
    const maxStreams = streamLimit(options.maxStreams);
    super(socket, { kind: 'client' }, options);
    this.#maxStreams = maxStreams;
  }

  probe(): Promise<boolean> {
    return this.session.probe();
  }

  get isPeerExtended(): boolean {
    return this.session.peerExtended;
  }

  get carriesDatagrams(): boolean {
    return this.session.peerCarriesDatagrams;
  }

  openFlow(port: number, events: UdpFlowEvents): UdpFlow {
    this.#checkOpen(port);
    if (!this.carriesDatagrams) {
      const message = 'the daemon is too old to carry UDP; upgrade it';
      throw new TunnelError('noDatagrams', message, { port });
    }
    return this.session.connectFlow(`udp/localhost:${port}`, events);
  }

  #checkOpen(port: number): void {
    if (!isTcpPort(port)) {
      const message = `cannot open a stream: found port ${port}; wanted 1 to 65535`;
      throw new TunnelError('invalidPort', message);
    }
    if (this.state === 'draining')
      throw new TunnelError('draining', 'cannot open a stream: the tunnel is draining', { port });
    if (this.state !== 'open')
      throw new TunnelError('sessionEnded', 'cannot open a stream: the tunnel has ended', { port });
  }

  connect(port: number, options: { readonly signal?: AbortSignal } = {}): TunnelStream {
    const { signal } = options;
    this.#checkOpen(port);
    if (this.streamCount >= this.#maxStreams) {
      const message = `cannot open a stream: found ${this.streamCount} open; wanted fewer than ${this.#maxStreams}`;
      throw new TunnelError('tooManyStreams', message, { port });
    }
    if (signal?.aborted === true) throw aborted(port, signal);
    const stream = this.session.connect(`tcp/localhost:${port}`);
    if (signal !== undefined) {
      const abort = (): void => void stream.destroy(aborted(port, signal));
      signal.addEventListener('abort', abort, { once: true });
      stream.once('close', () => signal.removeEventListener('abort', abort));
    }
    return stream;
  }
}

function aborted(port: number, { reason: cause }: AbortSignal): TunnelError {
  return new TunnelError('aborted', `the stream to port ${port} was aborted`, { port, cause });
}
