/**
 * Requests from a node to its Rancher server: server identity, health, registration, downloads and address keywords.
 * Writes no files.
 *
 * @example
 * const trust = await establishTrust({ server: 'https://rancher.example.com', caChecksum, token });
 * await checkHealth(trust);
 * const { text } = await registerNode(trust, { token, node: { id: newNodeId(), isWorker: true } });
 * @module
 */
export {
  resolveAddress,
  type AddressOptions,
  type CloudServices,
} from './address/resolve-address.js';
export {
  createDownload,
  type Download,
  type Downloaded,
  type DownloadOptions,
  type DownloadWanted,
} from './download/create-download.js';
export type { RancherSettings } from './http/rancher-client.js';
export { RancherError, type RancherErrorCode } from './rancher-error.js';
export { checkHealth } from './register/check-health.js';
export {
  judgeNodeId,
  newNodeId,
  registerNode,
  type NodeDescription,
  type NodeIdVerdict,
  type RegistrationWanted,
} from './register/register-node.js';
export {
  establishTrust,
  type Authority,
  type ServerTrust,
  type TrustWanted,
} from './trust/establish-trust.js';
export type { KeptConnectionInfo } from '@wins/net';
