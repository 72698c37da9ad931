/**
 * Names, text functions, exit codes, IP networks and a queue of works that all wins programs share. Also the interfaces to the operating system, which
 * `@wins/linux-host` and `@wins/windows-host` implement. Imports only Node.
 *
 * @packageDocumentation
 */
export {
  adminPipeOf,
  DAEMON_SERVICE,
  DEFAULT_PIPE_NAME,
  DEFAULT_PROXY_PIPE_NAME,
  RUN_RUNTIME_DIR_VARIABLE,
  RUN_SERVICE_VARIABLE,
  RUN_MARKER_VARIABLE,
  SERVICE_NAME,
  TUNNEL_CLIENT_HEADER,
  TUNNEL_NETWORK_HEADER,
} from './names.js';
export { describeLosses, GUARDED_KEYS, type GuardedKey } from './guarded-keys.js';
export {
  finishCommand,
  type Answer,
  type CommandHandler,
  type CommandSurroundings,
  type Show,
} from './answer.js';
export { errnoOf, messageOf, reasonOf } from './errno-of.js';
export {
  escapeJson,
  escapeText,
  foldAscii,
  hasInvisible,
  quoteText,
  type TextLimit,
} from './text/escape-text.js';
export { EXIT } from './exit-codes.js';
export { canonicalPath, localPath, type CanonicalPath } from './host/canonical-path.js';
export { signerRuleOf, type AcceptedSigner, type SignerRule } from './signer-rule.js';
export type {
  HnsNetwork,
  HnsSubnet,
  HostSystem,
  HostVersion,
  NetworkAdapter,
  NetworkSelector,
  RouteEntry,
} from './host/host-system.js';
export {
  isSameRoute,
  type HostRoutes,
  type ListedRoute,
  type RouteChange,
  type RouteHop,
  type RouteInterface,
  type RouteOutcome,
  type RoutingState,
  type StaticRoute,
  CONTAINER_NETWORK,
  type ItemChange,
  type ListedItem,
  type NetworkChange,
  type NetworkItem,
} from './host/host-routes.js';
export {
  addressRange,
  containerLimits,
  type AddressRange,
  type ContainerLimits,
} from './host/container-limits.js';
export {
  EVERYBODY,
  UNIDENTIFIED,
  UNIDENTIFIED_CLIENT,
  type ClientDescription,
  type ClientIdentity,
  type IdentifyClient,
} from './host/client-identity.js';
export type {
  EndpointEvents,
  PipeEndpoint,
  PipeSecurity,
  PipeServerCheck,
} from './host/pipe-security.js';
export type { ExposedPort, PortOpener } from './host/port-opener.js';
export {
  STOP_SIGNALS,
  type FileHold,
  type HostCommand,
  type HostExit,
  type HostProcess,
  type Leftover,
  type LeftoverSearch,
  type LimitMeans,
  type ProcessHost,
  type ProcessTree,
  type RememberedProcess,
  type StartOptions,
  type TreeLimits,
  type TreeUsage,
  type StopRequest,
} from './host/process-host.js';
export { commandWord, withGivenOptions, type GivenOptions } from './text/advised-commands.js';
export { isUsageError, UsageError } from './usage-error.js';
export { networkIdentity } from './network/network-identity.js';
export { onSystemDrive } from './on-system-drive.js';
export { formatDuration, parseDuration, type DurationLimits } from './parse-duration.js';
export { withDefaults, type Complete, type Optional } from './options.js';
export { parseSize } from './parse-size.js';
export {
  resolvePipePath,
  type ConnectDaemon,
  type PipePath,
  type ResolvePipePathOptions,
} from './pipe-path.js';
export { runtimeDirectory } from './runtime-directory.js';
export {
  ADMINISTRATORS_AND_SYSTEM,
  judgePipeAccess,
  type PipeAccessVerdict,
} from './access/judge-pipe-access.js';
export {
  grantsTheSame,
  parseSecurityDescriptor,
  type AccessEntry,
  type SecurityDescriptor,
} from './access/security-descriptor.js';
export { accessRights } from './access/security-descriptor-words.js';
export { Serial } from './serial.js';
export { TextError } from './text/text-error.js';
export { TransientMap } from './transient-map.js';
export { COMMIT, VERSION } from './version.js';
export {
  formatAddress,
  formatNetwork,
  isIpv4LinkLocal,
  networkOf,
  overlap,
  parseAddress,
  parseNetwork,
  unroutableReason,
  type IpNetwork,
} from './ip-network.js';
export { reporter } from './reporter.js';
export { readRouteDestinations, type RouteDestinations } from './network/route-destinations.js';
export { parseListenAddress, type ListenAddress } from './network/listen-address.js';
export { hasUser, toldAddress } from './network/plain-address.js';
