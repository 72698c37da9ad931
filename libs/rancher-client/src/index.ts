/**
 * Requests from a node to the Rancher server that it joins: server identity, health, registration and downloads.
 *
 * It owns: which certificate authority is trusted and why, the answer of `/v3/connect/agent`, downloads into a sink,
 * the keywords for addresses, and cattle-ids. It does not own: files, the use of its results, and command lines.
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
