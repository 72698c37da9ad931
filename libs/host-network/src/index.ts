/**
 * Maintains the network of a host. Adds desired routes again when another program removes them, and removes its own routes when
 * they are no longer desired.
 *
 * Reaches the routing table through {@link HostRoutes} of `@wins/base`, which `@wins/linux-host` and `@wins/windows-host` implement.
 *
 * ```ts
 * const desired = { peers: [{ id: 'b', subnet: '10.42.1.0/24', nextHop: '192.0.2.7' }], routes: [] };
 * const { steps } = plan(desired, await host.list(), []);
 * ```
 *
 * @packageDocumentation
 */
export { HostNetworkError, type HostNetworkErrorCode } from './host-network-error.js';
export {
  HostNetwork,
  type HostNetworkOptions,
  type HostNetworkStatus,
} from './keep/host-network.js';
export { routeRecords, type RouteRecordOptions, type RouteRecords } from './keep/route-records.js';
export {
  CLOUD_ADDRESSES,
  cloudRoutes,
  type Cloud,
  type DesiredNetwork,
  type DesiredSubnet,
  type DesiredRoute,
} from './plan/desired-route.js';
export {
  judgePeers,
  type DesiredPeer,
  type JudgedPeers,
  type PeerRejectionCode,
  type PeerRules,
  type RejectedPeer,
  type SubnetFault,
} from './plan/judge-peers.js';
export type { SubnetRejectionCode } from './plan/own-network.js';
export type { OwnedItem, RouteState } from './plan/plan-items.js';
export {
  plan,
  type Owned,
  type OwnedRoute,
  type PlanLimits,
  type PlannedStep,
  type PlanOptions,
  type RoutePlan,
  type Standing,
} from './plan/plan.js';
export type { PrivateFileOptions } from './private-file.js';
export { containerFeed, type DesiredPort } from './sources/container-feed.js';
export type {
  DuplicatePeer,
  ElementFault,
  Gathered,
  SkippedElement,
} from './sources/element-list.js';
export {
  SourceSet,
  type NamedSourceStatus,
  type SourceSetOptions,
  type WantedSource,
} from './sources/source-set.js';
export { metadataFeed, type MetadataFeedOptions } from './sources/metadata-feed.js';
export type { MetadataServiceOptions } from './sources/metadata-service.js';
export {
  nodeFeed,
  type NodeFeedOptions,
  type NodeListener,
  type NodeReader,
} from './sources/node-feed.js';
export {
  Source,
  type Feed,
  type FeedListener,
  type LastGood,
  type Snapshot,
  type SourceOptions,
  type SourceState,
  type SourceStatus,
} from './sources/source.js';
