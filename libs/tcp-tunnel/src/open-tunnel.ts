import { ClientEnd, type ClientTunnel, type OpenTunnelOptions } from './client-tunnel.js';
import { publishPorts, type PublishedTunnel, type PublishOptions } from './publish-ports.js';
import type { TunnelWebSocket } from './web-socket/tunnel-web-socket.js';

/**
 * Connects to the daemon's tunnel and publishes ports of its host here, until the tunnel ends or is closed. A lost tunnel is not
 * made again: `closed` tells of it.
 *
 * @throws {TunnelError} `invalidOption`, `invalidPort`; `unreachable` when nothing serves the pipe or it is not the tunnel;
 * `addressInUse`, `addressDenied`, `listenFailed`; `aborted`. Nothing is left open then.
 */
export function openTunnel(options: PublishOptions): Promise<PublishedTunnel>;
/**
 * Begins the client role on an open WebSocket, which the tunnel then owns. Call it in the turn in which the WebSocket
 * opened, so that no message is missed.
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
