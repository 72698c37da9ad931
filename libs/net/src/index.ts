/**
 * HTTPS client with certificate trust and proxies, and parsers of kubeconfig, YAML and PEM. Errors name the failed step. Writes no log.
 *
 * @example
 * using client = new HttpClient({ environment: process.env });
 * const request = { url: new URL('https://registry.example/v2/'), trust: { roots: systemRoots() } };
 * const { body } = await client.askForBytes(request, { what: 'ask the registry', maxBytes: 65_536 });
 * @packageDocumentation
 */
export { quoteForeign, shownUrl, withoutSecrets, withoutUser } from './http/foreign-text.js';
export { askStatus, type StatusRequest } from './http/ask-status.js';
export type { HttpAnswer, BodyOptions } from './http/http-answer.js';
export { HttpClient, type Asked, type RetryOptions } from './http/http-client.js';
export type { CompleteSettings, HttpLimits, HttpSettings } from './http/http-settings.js';
export { basicAuthorization } from './http/basic-authorization.js';
export { securely, type RedirectRule } from './http/judge-redirect.js';
export { retryAfterMs } from './http/judge-retry.js';
export type { HttpRequest } from './http/send-request.js';
export { isNetError, NetError, type NetErrorCode, type NetErrorDetails } from './net-error.js';
export {
  judgeConnectionInfo,
  keepConnectionInfo,
  MAX_CONNECTION_INFO_BYTES,
  type ConnectionInfo,
  type KeptConnectionInfo,
} from './kubeconfig/connection-info.js';
export {
  judgeKubeconfig,
  type ClusterAccess,
  type Kubeconfig,
  type KubeconfigOptions,
} from './kubeconfig/judge-kubeconfig.js';
export { type Refusal, readYaml, type FoundYaml, type YamlOptions } from './yaml/read-yaml.js';
export {
  readCertificates,
  type Certificate,
  type FoundCertificates,
} from './pem/read-certificates.js';
export { proxyOf, type Environment } from './proxy/proxy-of.js';
export { publicRoots, systemRoots } from './trust/system-roots.js';
export type { TlsTrust } from './trust/tls-trust.js';
