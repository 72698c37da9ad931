/** Test double of Rancher that can inject faults. For specs of installation and registration. */
export {
  answer,
  byteByByte,
  cutAfter,
  drip,
  endless,
  noHttp,
  redirectTo,
  silent,
  stallAfter,
  upgrade,
  withoutLength,
  type RancherFault,
  type RancherRequest,
} from './fault.js';
export type { CertificateKind } from './rancher-certificates.js';
export {
  connectionInfo,
  startRancher,
  type RancherDouble,
  type RancherOptions,
} from './start-rancher.js';
