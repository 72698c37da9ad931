import { keepConnectionInfo, type KeptConnectionInfo } from '@wins/net';
import { RancherError } from '../rancher-error.js';

/**
 * Judges the answer of `/v3/connect/agent`.
 *
 * @throws RancherError `badShape`, `strictWithoutCa`; no value of the answer is repeated.
 */
export function parseRegistration(
  text: string,
  strictTls: boolean,
  allowHttp: boolean,
): KeptConnectionInfo {
  const kept = keepConnectionInfo(text, allowHttp);
  if ('found' in kept) {
    throw new RancherError('badShape', `cannot register the node: ${kept.found}`);
  }
  if (strictTls && kept.info.access.ca === undefined) {
    const message =
      'cannot register the node: found a kubeconfig without certificate-authority-data; wanted it for strict TLS: set the CA of Rancher, or turn strict TLS off';
    throw new RancherError('strictWithoutCa', message);
  }
  return kept;
}
