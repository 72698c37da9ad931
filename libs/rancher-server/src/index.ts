/**
 * What a node asks of a Rancher server before it belongs to it: whether this is the server, whether it is well, to be registered, files.
 *
 * It owns: which authority is believed and why, the answer of
 * `/v3/connect/agent`, downloads into a sink, the words that stand for an address, and cattle-ids. It does not own: files, what is done
 * with what it returns, and command lines.
 *
 * @example
 * const trust = await establishTrust({ server: 'https://rancher.example.com', caChecksum, token });
 * await checkHealth(trust);
 * const { text } = await registerNode(trust, { token, node: { id: newNodeId(), isWorker: true } });
 * @module
 */
export type { AddressAdapters } from './address/address-adapters.js';
export type { CloudServices } from './address/cloud-words.js';
export { resolveAddress, type AddressOptions } from './address/resolve-address.js';
export { createDownload, type DownloadOptions } from './download/create-download.js';
export type { Download, Downloaded, DownloadWanted } from './download/download.js';
export type { RancherSettings } from './http/rancher-client.js';
export { RancherError, type RancherErrorCode } from './rancher-error.js';
export { checkHealth } from './register/check-health.js';
export { judgeNodeId, newNodeId, type NodeIdVerdict } from './register/node-id.js';
export { registerNode } from './register/register-node.js';
export type { NodeDescription, RegistrationWanted } from './register/registration.js';
export { establishTrust } from './trust/establish-trust.js';
export type { Authority, ServerTrust, TrustWanted } from './trust/server-trust.js';
