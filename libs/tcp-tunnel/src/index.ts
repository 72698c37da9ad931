/**
 * Many TCP streams and UDP flows through one WebSocket: the remotedialer protocol in both roles. Compatible with every
 * remotedialer version that a Go release of wins contains.
 *
 * The caller authorizes the peer and replaces a lost tunnel.
 */
export {
  serveTunnel,
  type ConnectRecord,
  type ServerTunnel,
  type ServeTunnelOptions,
} from './serve-tunnel.js';
export {
  createConnectLimits,
  type ConnectLimits,
  type PeerConnects,
} from './session/connect-limits.js';
export {
  openTunnel,
  type ClientTunnel,
  type OpenTunnelOptions,
  type PublishedPort,
  type PublishedTunnel,
  type PublishOptions,
} from './client-tunnel.js';
export { connectWebSocket, type OnTunnelSocket, type TunnelAddress } from './connect-web-socket.js';
export {
  type TunnelWebSocket,
  webSocketClientOptions,
  webSocketServerOptions,
  type TunnelWebSocketOptions,
} from './web-socket/web-socket-options.js';
export {
  TunnelHandshakes,
  type TunnelHandshakesOptions,
  type TunnelRequest,
} from './tunnel-handshakes.js';
export type { Tunnel } from './tunnel.js';
export type { TunnelOptions, TunnelTimes } from './stream/session-settings.js';
export type { SessionState, TunnelEnd } from './session/session-state.js';
export type { TunnelStream, TunnelTraffic } from './stream/tunnel-stream.js';
export {
  judgeDestination,
  type DestinationRule,
  type DestinationVerdict,
} from './tcp/destination-policy.js';
export {
  listenTcp,
  type ListenTcpOptions,
  type PendingConnection,
  type TcpListener,
  type WatchedEnd,
} from './tcp/tcp-listener.js';
export {
  publishedPorts,
  type Endpoint,
  type PortFacts,
  type PortRule,
  type WantedPort,
} from './relay/judge-ports.js';
export {
  type PortRelayStatus,
  type PortRelayOptions,
  type RelayedConnections,
  type RelayState,
} from './relay/port-relay.js';
export { PortRelays, type PortRelaysOptions, type PortStanding } from './relay/port-relays.js';
export { listenUdp, type ListenUdpOptions, type UdpListener } from './udp/listen-udp.js';
export {
  LocalAddresses,
  type LocalAddress,
  type LocalAddressesOptions,
} from './udp/local-addresses.js';
export type { UdpFlow, UdpFlowEvents, UdpTurns } from './udp/udp-flow.js';
export { UdpTracker, type TrackedFlow, type UdpTrackerOptions } from './udp/udp-tracker.js';
export type { BeginDial } from './session/connect-limits.js';
export { type Dial, type DialTarget } from './tcp/tcp-connector.js';
export { TunnelError, type TunnelErrorCode, type TunnelErrorDetails } from './tunnel-error.js';
export { REFUSAL_RULES, type RefusalRule } from './wire/refusal.js';
export type { Int64 } from './wire/varint.js';
