import { isPlainAddress } from '@wins/wins-program';
import { FeatureError } from '../../kernel/feature-error.js';

/** Where collectors take spans (OTLP specification, "OTLP/HTTP Request"). */
const PATH = '/v1/traces';

/**
 * The address to which spans are posted: an endpoint without a path gets that of the standard.
 *
 * @throws FeatureError `invalidEndpoint`: neither http nor https, or with a user, password, query or fragment, which would be
 *   logged.
 */
export function otlpAddress(endpoint: string): string {
  if (!isPlainAddress(endpoint)) {
    const message =
      'cannot send spans: found another address; wanted one with http or https and no user, password, query or fragment';
    throw new FeatureError('invalidEndpoint', message);
  }
  const url = new URL(endpoint);
  if (url.pathname === '/') url.pathname = PATH;
  return url.href;
}
