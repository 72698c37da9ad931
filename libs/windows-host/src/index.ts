/**
 * The only library with Win32 calls. Implements interfaces of `@wins/base`. Its objects also match interfaces of libraries that it does not import.
 *
 * Importing it loads nothing and works on every system. Outside Windows each call fails with a {@link WindowsError} of
 * code `unavailable`.
 *
 * @packageDocumentation
 */
export { windowsFileTrust } from './access/windows-file-trust.js';
export { fileSecurity } from './access/file-security.js';
export { fileHolders } from './files/file-holders.js';
export { holdFile, lockFile } from './access/file-hold.js';
export { createPrivateFile } from './access/private-file.js';
export { whoMayWrite } from './access/who-may-write.js';
export {
  windowsPlanFiles,
  type PlanFileMode,
  type WindowsPlanFiles,
  type WindowsPlanFilesOptions,
} from './files/windows-plan-files.js';
export type { ProcessAccount } from './access/process-account.js';
export {
  openEventLog,
  registerEventSource,
  unregisterEventSource,
  type EventLog,
  type LogEvent,
} from './event-log/event-log.js';
export { firewallOffReason, type FirewallSwitches } from './firewall/firewall-off-reason.js';
export {
  firewallRules,
  type FirewallHost,
  type FirewallRules,
  type RunOpening,
} from './firewall/firewall-rules.js';
export { hostRoutesOf, windowsHostRoutes } from './network/windows-host-routes.js';
export type { ForwardRow, RouteTable } from './network/routes.js';
export type { AdapterEntry } from './network/network-adapters.js';
export type { NamedHnsNetwork } from './network/hns-networks.js';
export type {
  FilterCondition,
  FilterField,
  FilterGroup,
  FilterLabel,
  FilterLayer,
  LabelledFilter,
  PacketFilter,
} from './network/container-filters.js';
export type { FilterChanges } from './network/packet-filters.js';
export type { ContainerNetworkCalls } from './network/windows-network-items.js';
export { windowsHostSystem } from './network/windows-host-system.js';
export {
  type PipeClient,
  pipeAccessFault,
  securedPipe,
  type SecuredPipeOptions,
  type PipeProtection,
} from './pipes/secured-pipe.js';
export {
  pipeAccess,
  pipeExists,
  securedPipeClient,
  type SecuredPipeClientOptions,
} from './pipes/secured-pipe-client.js';
export { windowsClients } from './pipes/windows-clients.js';
export {
  windowsKeepers,
  type KeeperProgram,
  type WindowsKeepers,
} from './pipes/windows-keepers.js';
export { windowsNode } from './node/windows-node.js';
export type { NodeServiceManners, NodeServiceState } from './node/node-services.js';
export type { NodeStore, ContentStore } from './node/node-store.js';
export type { FolderItem, FileState } from './node/node-files.js';
export type { WinHttpProxyState } from './node/win-http-proxy.js';
export type { VariableItem } from './node/service-environment.js';
export {
  listenToConsole,
  type ConsoleEvent,
  type ConsoleEvents,
} from './processes/console-events.js';
export { jobObjectProcessHost } from './processes/job-object-process-host.js';
export {
  isRunning,
  ownIdentity,
  processIdentity,
  processOfText,
  processStartedAtMs,
  type ProcessIdentity,
  isBelow,
  processesOf,
  sessionStart,
} from './processes/windows-process.js';
export {
  eventAccess,
  listenToEvent,
  signalEvent,
  type NamedEvent,
  type EventListener,
} from './processes/named-event.js';
export {
  startOutsideJob,
  windowsCommandLine,
  type Program,
} from './processes/windows-process-start.js';
export { RegistryKey, windowsFolder, type RegistryValue } from './registry/registry.js';
export {
  serviceControlManager,
  type ServiceControlManager,
  type Registration,
  type ServiceChange,
} from './services/service-control-manager.js';
export type {
  ServiceDefinition,
  ServiceStartType,
  FailurePolicy,
  ServiceConfig,
} from './services/service-config.js';
export {
  endProcessWithin,
  endService,
  startServiceProcess,
  type ServiceEndOptions,
} from './services/service-end.js';
export type { ServiceStopReason } from './services/service-lifecycle.js';
export {
  runAsService,
  type RunningService,
  type ServiceOptions,
} from './services/service-process.js';
export type { ServiceState, ServiceStatus, WaitOptions } from './services/service-wait.js';
export {
  unlessFails,
  WindowsError,
  type WindowsErrorCode,
  type SystemFailure,
} from './windows-error.js';
