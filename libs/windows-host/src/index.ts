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
