import { streamLimit, type TunnelOptions } from './session/session-settings.js';
import type { TunnelStream } from './stream/tunnel-stream.js';
import { isTcpPort } from './tcp/destination-policy.js';
import { TunnelError } from './tunnel-error.js';
import { SessionTunnel, type Tunnel } from './tunnel.js';
import type { TunnelWebSocket } from './web-socket/tunnel-web-socket.js';

/** Options of the end that opens streams. */
export interface OpenTunnelOptions extends TunnelOptions {
  /** Streams at a time. Default 1,024, at most 16,384; one more throws `tooManyStreams`. */
  readonly maxStreams?: number;
  /**
   * Towards a peer that knows no half-close: how long the end of a local writer is held back, counted from the last data,
   * for the sake of the answer. Default 10,000 ms.
   */
  readonly heldEndIdleMs?: number;
}

/** The end that opens streams. */
export interface ClientTunnel extends Tunnel {
  /** The peer knows the extensions of this project; a Go server does not. Known once a probe is answered. */
  readonly isPeerExtended: boolean;
  /**
   * Asks the peer for a sign of life. It answers after it has acted on what was sent before, so that one that ends its session at a
   * Connect, as a Go server does, is found out. Resolves with false when the tunnel ends without an answer; it has no limit in time.
   */
  probe(): Promise<boolean>;
  /**
   * Opens a stream to a port of the loopback at the other end. The protocol has no acknowledgement: data may be written
   * at once, and a refusal is the stream's `error`. The caller listens for `error` and ends or destroys the stream;
   * the signal destroys it too, with `aborted`.
   *
   * @throws {TunnelError} `invalidPort`, `draining`, `sessionEnded`, `tooManyStreams`, `aborted`.
   */
  connect(port: number, options?: { readonly signal?: AbortSignal }): TunnelStream;
}

/** Opens streams through a session. */
export class ClientEnd extends SessionTunnel implements ClientTunnel {
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

  connect(port: number, options: { readonly signal?: AbortSignal } = {}): TunnelStream {
    const { signal } = options;
    if (!isTcpPort(port)) {
      const message = `cannot open a stream: found port ${port}; wanted 1 to 65535`;
      throw new TunnelError('invalidPort', message);
    }
    if (this.state === 'draining')
      throw new TunnelError('draining', 'cannot open a stream: the tunnel is draining', { port });
    if (this.state !== 'open')
      throw new TunnelError('sessionEnded', 'cannot open a stream: the tunnel has ended', { port });
    if (this.streamCount >= this.#maxStreams) {
      const message = `cannot open a stream: found ${this.streamCount} open; wanted fewer than ${this.#maxStreams}`;
      throw new TunnelError('tooManyStreams', message, { port });
    }
    if (signal?.aborted === true) throw aborted(port);
    const stream = this.session.connect(`tcp/localhost:${port}`);
    if (signal !== undefined) {
      const abort = (): void => void stream.destroy(aborted(port));
      signal.addEventListener('abort', abort, { once: true });
      stream.once('close', () => signal.removeEventListener('abort', abort));
    }
    return stream;
  }
}

function aborted(port: number): TunnelError {
  return new TunnelError('aborted', `the stream to port ${port} was aborted`, { port });
}
