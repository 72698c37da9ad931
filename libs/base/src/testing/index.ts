/** Helpers for specs. */
export {
  CODE_SIGNING,
  createCertificateAuthority,
  TIME_STAMPING,
  type AuthorityOptions,
  type CertificateAuthority,
  type IssueOptions,
  type KeyPair,
} from './certificate-authority.js';
export {
  DetachedProcess,
  killProcess,
  processOf,
  type DetachedProgram,
  type ProcessIdentity,
} from './detached-process.js';
export {
  failingCallbacks,
  hushWarnings,
  observedProcess,
  type ReportingOperation,
} from './failing-callbacks.js';
export { FakeClock } from './fake-clock.js';
export { mayMount } from './may-mount.js';
