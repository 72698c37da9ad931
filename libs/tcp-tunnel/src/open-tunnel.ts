import { isTcpPort } from './tcp/destination-policy.js';
import type { TunnelOptions } from './session/session-settings.js';
import { channelLimit } from './session/session-settings.js';
import type { TunnelChannel } from './stream/tunnel-channel.js';
import { TunnelError } from './tunnel-error.js';
import { SocketSession, type TunnelSession } from './session/tunnel-session.js';
import type { TunnelWebSocket } from './web-socket/tunnel-web-socket.js';

/** Options of the end that opens streams. */
export interface OpenTunnelOptions extends TunnelOptions {
  /** Streams at a time. Default 1,024, at most 16,384; one more throws `too-many-channels`. */
  readonly maxChannels?: number;
  /**
   * Towards a peer that knows no half-close: how long the end of a local writer is held back, counted from the last data,
   * for the sake of the answer. Default 10,000 ms.
   */
  readonly heldEndIdleMs?: number;
}

/** The end that opens streams. */
export interface ClientTunnel extends TunnelSession {
  /**
   * Opens a stream to a port of the loopback at the other end. The protocol has no acknowledgement: data may be written
   * at once, and a refusal is the channel's `error`. The caller listens for `error` and ends or destroys the channel;
   * the signal destroys it too, with `aborted`.
   *
   * @throws {TunnelError} `invalid-port`, `draining`, `session-ended`, `too-many-channels`, `aborted`.
   */
  connect(port: number, options?: { readonly signal?: AbortSignal }): TunnelChannel;
}

/**
 * Begins the client role on an open WebSocket, which the session then owns. Call it in the turn in which the WebSocket
 * opened, so that no message is missed.
 *
 * @throws {TunnelError} `websocket-not-open`, `invalid-option`.
 */
export function openTunnel(socket: TunnelWebSocket, options: OpenTunnelOptions = {}): ClientTunnel {
  const maxChannels = channelLimit(options.maxChannels);
  return new ClientSession(socket, maxChannels, options);
}

class ClientSession extends SocketSession implements ClientTunnel {
  constructor(
    socket: TunnelWebSocket,
    private readonly maxChannels: number,
    options: OpenTunnelOptions,
  ) {
    super(socket, { kind: 'client' }, options);
  }

  connect(port: number, options: { readonly signal?: AbortSignal } = {}): TunnelChannel {
    const { signal } = options;
    if (!isTcpPort(port))
      throw new TunnelError('invalid-port', `connected to port ${port}; it must be 1 to 65,535`);
    if (this.state === 'draining')
      throw new TunnelError('draining', 'the tunnel takes no new streams', { port });
    if (this.state !== 'open')
      throw new TunnelError('session-ended', 'the tunnel has ended', { port });
    if (this.channelCount >= this.maxChannels) {
      const message = `the tunnel has ${this.channelCount} streams; at most ${this.maxChannels} are allowed`;
      throw new TunnelError('too-many-channels', message, { port });
    }
    if (signal?.aborted === true) throw aborted(port);
    const channel = this.core.connect(`tcp/localhost:${port}`);
    if (signal !== undefined) {
      const abort = (): void => void channel.destroy(aborted(port));
      signal.addEventListener('abort', abort, { once: true });
      channel.once('close', () => signal.removeEventListener('abort', abort));
    }
    return channel;
  }
}

function aborted(port: number): TunnelError {
  return new TunnelError('aborted', `the stream to port ${port} was aborted`, { port });
}
