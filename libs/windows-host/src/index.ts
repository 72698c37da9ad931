/**
 * The only library with Win32 calls. What it offers fits the ports of the other libraries by structure; it imports none of them.
 *
 * It exports what applications call. The types of their arguments and results follow from that.
 *
 * Importing it loads nothing and works everywhere; a call on another system fails with a {@link WindowsError} of code
 * `unavailable`.
 *
 * @packageDocumentation
 */
export { ensurePrivateFolder, distrustOfFile } from './access/trusted-file.js';
export { fileSecurity } from './access/file-security.js';
export { lockFile } from './access/file-lock.js';
export { holdFile } from './access/file-hold.js';
export { createPrivateFile } from './access/private-file.js';
export { grantsTheSame, parseSecurityDescriptor } from './access/security-descriptor.js';
export { whoMayWrite } from './access/who-may-write.js';
export {
  windowsPlanFiles,
  type PlanFileMode,
  type WindowsPlanFiles,
  type WindowsPlanFilesOptions,
} from './access/windows-plan-files.js';
export { windowsFileTrust } from './access/windows-file-trust.js';
export {
  openEventLog,
  registerEventSource,
  unregisterEventSource,
  type EventLog,
  type LogEvent,
} from './event-log/event-log.js';
export { firewallOffReason } from './firewall/firewall-off-reason.js';
export { firewallRules } from './firewall/firewall-rules.js';
export { windowsHostSystem } from './network/windows-host-system.js';
export { pipeAccess } from './pipes/pipe-access.js';
export { pipeExists } from './pipes/pipe-exists.js';
export type { PipeClient } from './pipes/pipe-client.js';
export { pipeAccessFault, securedPipe } from './pipes/secured-pipe.js';
export { securedPipeClient } from './pipes/secured-pipe-client.js';
export { windowsNode } from './node/windows-node.js';
export type { NodeServiceManners } from './node/node-services.js';
export {
  listenToConsole,
  type ConsoleEvent,
  type ConsoleEvents,
} from './processes/console-events.js';
export { jobObjectProcessHost } from './processes/job-object-process-host.js';
export {
  endProcess,
  isRunning,
  ownIdentity,
  processIdentity,
  type ProcessIdentity,
} from './processes/windows-process.js';
export { eventAccess, listenToEvent, signalEvent } from './processes/named-event.js';
export { isBelow } from './processes/process-ancestry.js';
export { processesOf } from './processes/windows-process-table.js';
export { startDetachedProcess } from './processes/windows-process-detached.js';
export { RegistryKey } from './registry/registry.js';
export {
  serviceControlManager,
  type ServiceControlManager,
} from './services/service-control-manager.js';
export type { ServiceDefinition } from './services/service-definition.js';
export type { ServiceStopReason } from './services/service-lifecycle.js';
export { runAsService, type RunningService } from './services/service-process.js';
export type { ServiceState, ServiceStatus } from './services/service-status.js';
export { WindowsError, type WindowsErrorCode } from './windows-error.js';
