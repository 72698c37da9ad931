import type { Socket } from 'node:net';
import { connectWebSocket, type TunnelAddress } from './connect-web-socket.js';
import type { ClientTunnel, OpenTunnelOptions } from './client-tunnel.js';
import type { TunnelEnd } from './session/session-state.js';
import { isTcpPort } from './tcp/destination-policy.js';
import { listenTcp, type TcpListener } from './tcp/tcp-listener.js';
import { TunnelError } from './tunnel-error.js';
import type { TunnelWebSocket } from './web-socket/tunnel-web-socket.js';

/** A port of the host, and where it is published here. */
export interface PublishedPort {
  /** The port of the host; the daemon's config must list it. */
  readonly hostPort: number;
  /** The port here; 0 lets the system choose. Default: that of the host. */
  readonly port?: number;
  /** The literal address to listen on. Default: 127.0.0.1, which no one else reaches. */
  readonly host?: string;
}

/** What to publish, and through which tunnel. */
export interface PublishOptions extends OpenTunnelOptions, TunnelAddress {
  /** Ports of the host; a number is published here under the same one. */
  readonly publish: readonly (number | PublishedPort)[];
  /** A connection could not get its stream: why. The others go on. It must not throw. */
  readonly onRefused?: (error: unknown) => void;
  readonly signal?: AbortSignal;
}

/** Ports of the host that are reachable here. Whoever opened it closes it. */
export interface PublishedTunnel extends AsyncDisposable {
  /** Where each port is listened on, in the order in which they were given. */
  readonly ports: readonly Required<PublishedPort>[];
  /** Why the tunnel ended. It never rejects; nothing is listened on any more then. */
  readonly closed: Promise<TunnelEnd>;
  /** Accepts nothing more, and resolves when the open connections have ended. */
  drain(): Promise<void>;
  /** Resets the open connections and resolves when all is gone. Idempotent. */
  close(): Promise<void>;
}

/** Opens a tunnel and listens; see `openTunnel`. */
export async function publishPorts(
  options: PublishOptions,
  begin: (socket: TunnelWebSocket, connection: Socket) => ClientTunnel,
): Promise<PublishedTunnel> {
  const wanted = options.publish.map(complete);
  const tunnel = await connectWebSocket(options, begin);
  const listeners: TcpListener[] = [];
  const closeListeners = () => Promise.all(listeners.map((listener) => listener.close()));
  const close = async (): Promise<void> => {
    await Promise.all([closeListeners(), tunnel.close()]);
  };
  try {
    for (const { host, port, hostPort } of wanted) {
      const open = () =>
        tunnel.connect(hostPort).once('error', (error) => options.onRefused?.(error));
      const { maxStreams: maxConnections, onRefused } = options;
      const more = { ...(maxConnections && { maxConnections }), ...(onRefused && { onRefused }) };
      listeners.push(await listenTcp({ host, port, open, ...more }));
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
      await close();
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function complete(given: number | PublishedPort): Required<PublishedPort> {
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
