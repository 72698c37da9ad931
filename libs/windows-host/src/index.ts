/**
 * The one room with Win32 in it. What it offers fits the ports of the other libraries by structure; it imports none of them.
 *
 * Importing it loads nothing and works everywhere; a call on another system fails with a {@link WindowsError} of code
 * `unavailable`.
 *
 * @packageDocumentation
 */
export { WindowsError, type SystemFailure, type WindowsErrorCode } from './windows-error.js';
export { RegistryKey } from './registry.js';
export type { RegistryValue } from './registry-value.js';
export { windowsVersion, type WindowsVersion } from './host-version.js';
export type { NameOrAddress, NetworkAdapter } from './network-adapters-selection.js';
export type { HnsNetwork, HnsSubnet } from './hns-networks-json.js';
export type { Route } from './routes.js';
export { windowsHostSystem, type WindowsHostSystem } from './windows-host-system.js';
export {
  firewallRules,
  type FirewallHost,
  type FirewallRules,
  type RunOpening,
} from './firewall-rules.js';
export type { FirewallPort } from './firewall-ports.js';
export {
  openEventLog,
  registerEventSource,
  unregisterEventSource,
  type EventLog,
  type LogEvent,
} from './event-log.js';
export type { ServiceConfig } from './service-config.js';
export {
  serviceControlManager,
  type Registration,
  type ServiceControlManager,
} from './service-control-manager.js';
export type { FailurePolicy, ServiceDefinition, ServiceStartType } from './service-definition.js';
export type { ServiceStopReason } from './service-lifecycle.js';
export { runAsService, type RunningService, type ServiceOptions } from './service-process.js';
export type { ServiceState, ServiceStatus } from './service-status.js';
export type { WaitOptions } from './service-wait.js';
export { listenToConsole, type ConsoleEvent, type ConsoleEvents } from './console-events.js';
export { fileSecurity } from './file-security.js';
export { pipeAccess } from './pipe-access.js';
export {
  grantsTheSame,
  parseSecurityDescriptor,
  type AccessEntry,
  type SecurityDescriptor,
} from './security-descriptor.js';
export { whoMayReplace, whoMayWrite, type TrustedAccounts } from './who-may-write.js';
export { securedPipe, type PipeProtection, type SecuredPipeOptions } from './secured-pipe.js';
export type { SecuredPipe, SecuredPipeEvents } from './served-pipe.js';
export { processAccount, type ProcessAccount } from './elevation.js';
export type { PipeClient } from './pipe-client.js';
export {
  judgePipeServer,
  type PipeServerEvidence,
  type PipeServerVerdict,
} from './pipe-server-identity.js';
export {
  securedPipeClient,
  type SecuredPipeClient,
  type SecuredPipeClientOptions,
} from './secured-pipe-client.js';
export { windowsCommandLine } from './command-line.js';
export { holdFile, type HeldFile } from './held-file.js';
export { lockFile } from './file-lock.js';
export type {
  HostFailureCode,
  HostFailureDetails,
  MakeHostFailure,
} from './job-object-host-failure.js';
export type { FoundLeftover, LeftoverSearch } from './job-object-leftovers.js';
export {
  jobObjectProcessHost,
  type JobObjectCommand,
  type JobObjectLeftover,
  type JobObjectProcessHost,
  type JobObjectProcessHostOptions,
} from './job-object-process-host.js';
export type { JobObjectProcess } from './job-object-process.js';
export { distrustOfFile, distrustOfFolder, ensurePrivateFolder } from './trusted-file.js';
export type { Distrust } from './trusted-file-judgement.js';
export { startDetachedProcess } from './windows-process-detached.js';
export type { Program } from './windows-process-start.js';
export { endProcess, isRunning, processIdentity, type ProcessIdentity } from './windows-process.js';
