/**
 * The one room with Win32 in it. What it offers fits the ports of the other libraries by structure; it imports none of them.
 *
 * Importing it loads nothing and works everywhere; a call on another system fails with a {@link WindowsError} of code
 * `unavailable`.
 *
 * @packageDocumentation
 */
export { WindowsError, type SystemFailure, type WindowsErrorCode } from './windows-error.js';
export { fileSecurity } from './file-security.js';
export {
  grantsTheSame,
  parseSecurityDescriptor,
  type AccessEntry,
  type SecurityDescriptor,
} from './security-descriptor.js';
export { whoMayReplace, whoMayWrite, type TrustedAccounts } from './who-may-write.js';
export { windowsCommandLine } from './command-line.js';
export { holdFile, type HeldFile } from './held-file.js';
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
export { distrustOfFile, ensurePrivateFolder } from './trusted-file.js';
export type { Distrust } from './trusted-file-judgement.js';
export { startDetachedProcess } from './windows-process-detached.js';
export type { Program } from './windows-process-start.js';
export type { ProcessIdentity } from './windows-process.js';
