/**
 * The one room with Win32 in it. What it offers fits the ports of the other libraries by structure; it imports none of them.
 *
 * Importing it loads nothing and works everywhere; a call on another system fails with a {@link WindowsError} of code
 * `unavailable`.
 *
 * @packageDocumentation
 */
export { WindowsError, type SystemFailure, type WindowsErrorCode } from './windows-error.js';
export { RegistryKey } from './registry/registry.js';
export type { RegistryValue } from './registry/registry-value.js';
export { windowsVersion, type WindowsVersion } from './host-version.js';
export type { NameOrAddress, NetworkAdapter } from './network/network-adapters-selection.js';
export type { HnsNetwork, HnsSubnet } from './network/hns-networks-json.js';
export type { Route } from './network/routes.js';
export { windowsHostSystem, type WindowsHostSystem } from './network/windows-host-system.js';
export {
  firewallRules,
  type FirewallHost,
  type FirewallRules,
  type RunOpening,
} from './firewall/firewall-rules.js';
export type { FirewallPort } from './firewall/firewall-ports.js';
export {
  openEventLog,
  registerEventSource,
  unregisterEventSource,
  type EventLog,
  type LogEvent,
} from './event-log/event-log.js';
export type { ServiceConfig } from './services/service-config.js';
export {
  serviceControlManager,
  type Registration,
  type ServiceControlManager,
} from './services/service-control-manager.js';
export type {
  FailurePolicy,
  ServiceDefinition,
  ServiceStartType,
} from './services/service-definition.js';
export type { ServiceStopReason } from './services/service-lifecycle.js';
export {
  runAsService,
  type RunningService,
  type ServiceOptions,
} from './services/service-process.js';
export type { ServiceState, ServiceStatus } from './services/service-status.js';
export type { WaitOptions } from './services/service-wait.js';
export {
  listenToConsole,
  type ConsoleEvent,
  type ConsoleEvents,
} from './processes/console-events.js';
export { fileSecurity } from './access/file-security.js';
export { pipeAccess } from './pipes/pipe-access.js';
export {
  grantsTheSame,
  parseSecurityDescriptor,
  type AccessEntry,
  type SecurityDescriptor,
} from './access/security-descriptor.js';
export { whoMayReplace, whoMayWrite, type TrustedAccounts } from './access/who-may-write.js';
export { securedPipe, type PipeProtection, type SecuredPipeOptions } from './pipes/secured-pipe.js';
export type { SecuredPipe, SecuredPipeEvents } from './pipes/served-pipe.js';
export { processAccount, type ProcessAccount } from './access/process-account.js';
export type { PipeClient } from './pipes/pipe-client.js';
export {
  judgePipeServer,
  type PipeServerEvidence,
  type PipeServerVerdict,
} from './pipes/pipe-server-identity.js';
export {
  securedPipeClient,
  type SecuredPipeClient,
  type SecuredPipeClientOptions,
} from './pipes/secured-pipe-client.js';
export { windowsCommandLine } from './processes/windows-command-line.js';
export { holdFile, type HeldFile } from './access/held-file.js';
export { lockFile } from './access/file-lock.js';
export type {
  HostFailureCode,
  HostFailureDetails,
  MakeHostFailure,
} from './processes/job-object-host-failure.js';
export type { FoundLeftover, LeftoverSearch } from './processes/job-object-leftovers.js';
export {
  jobObjectProcessHost,
  type JobObjectCommand,
  type JobObjectLeftover,
  type JobObjectProcessHost,
  type JobObjectProcessHostOptions,
} from './processes/job-object-process-host.js';
export type { JobObjectProcess } from './processes/job-object-process.js';
export { distrustOfFile, distrustOfFolder, ensurePrivateFolder } from './access/trusted-file.js';
export { windowsFileTrust } from './access/windows-file-trust.js';
export { startDetachedProcess } from './processes/windows-process-detached.js';
export type { Program } from './processes/windows-process-start.js';
export {
  endProcess,
  isRunning,
  processIdentity,
  type ProcessIdentity,
} from './processes/windows-process.js';
