/** A double of Rancher, and its faults: for the specs of what installs and registers nodes. */
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
