/** A double of Rancher, a proxy, faults and a clock: for the specs of what installs and registers nodes. */
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
export { LeapingClock } from './leaping-clock.js';
export type { CertificateKind } from './rancher-certificates.js';
export {
  connectionInfo,
  startRancher,
  type RancherDouble,
  type RancherOptions,
} from './start-rancher.js';
export {
  startProxy,
  type ProxyDouble,
  type ProxyOptions,
  type ProxyRequest,
} from './start-proxy.js';
