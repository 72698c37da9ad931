/**
 * What a node asks of a Rancher server before it belongs to it: whether this is the server, whether it is well, to be registered, files.
 *
 * It owns: rules of HTTP (TLS, proxies, redirects, limits, retries), which authority is believed and why, the answer of
 * `/v3/connect/agent`, downloads into a sink, the words that stand for an address, and cattle-ids. It does not own: files, what is done
 * with what it returns, and command lines.
 *
 * @module
 */
export type { Clock } from './clock.js';
export type { Download, Downloaded, DownloadWanted } from './download/download.js';
export type { HttpLimits, HttpSettings } from './http/http-settings.js';
export { RancherError, type RancherErrorCode, type RancherErrorOptions } from './rancher-error.js';
export type { NodeDescription, Registration, RegistrationWanted } from './register/registration.js';
export type { Authority, CaCertificate, ServerTrust, TrustWanted } from './trust/server-trust.js';
