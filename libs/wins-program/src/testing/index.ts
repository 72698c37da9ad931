/** Doubles for the specs of what talks to servers. */
export {
  createCertificateAuthority,
  type CertificateAuthority,
  type IssueOptions,
  type KeyPair,
} from './certificate-authority.js';
