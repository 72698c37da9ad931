/** For specs: certificates, and what stands for a service where there is no service manager; what this process may do. */
export {
  createCertificateAuthority,
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
export { mayMount } from './may-mount.js';
