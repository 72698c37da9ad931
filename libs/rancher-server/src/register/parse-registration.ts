import { quoteText } from '@wins/wins-program';
import { z } from 'zod';
import { RancherError } from '../rancher-error.js';
import { connectionInfoText } from './connection-info-text.js';
import { readKubeconfig } from './read-kubeconfig.js';
import type { Registration } from './registration.js';

/** The name of an object of Kubernetes: a DNS subdomain (RFC 1123). */
const NAME = z.string().regex(/^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/);
const ANSWER = z.object({
  kubeConfig: z.string().min(1),
  namespace: NAME,
  secretName: NAME,
});

/**
 * Judges the answer of `/v3/connect/agent`.
 *
 * @throws RancherError `badShape`, `strictWithoutCa`; nothing of the answer but the names of its keys is repeated.
 */
export function parseRegistration(
  text: string,
  strictTls: boolean,
  allowHttp: boolean,
): Registration {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    // The error of the parser repeats text, which may be a token.
    throw badShape('found no JSON');
  }
  const parsed = ANSWER.safeParse(json);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    const key = quoteText((issue?.path ?? []).map(String).join('.') || 'the answer');
    throw badShape(`found ${key} without a value that can be used`);
  }
  const { kubeConfig, namespace, secretName } = parsed.data;
  const { server, hasCa } = readKubeconfig(kubeConfig, allowHttp);
  if (strictTls && !hasCa) {
    const message =
      'cannot register the node: found a kubeconfig without certificate-authority-data; wanted it for strict TLS: set the CA of Rancher, or turn strict TLS off';
    throw new RancherError('strictWithoutCa', message);
  }
  const file = connectionInfoText({ kubeConfig, namespace, secretName });
  return { kubeConfig, namespace, secretName, server, hasCa, text: file };
}

function badShape(found: string): RancherError {
  const message = `cannot register the node: ${found}; wanted JSON with kubeConfig, namespace and secretName`;
  return new RancherError('badShape', message);
}
