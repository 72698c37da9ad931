import { quoteText } from '@wins/wins-program';
import { TracingError } from './tracing-error.js';

/** Where collectors take spans (OTLP specification, "OTLP/HTTP Request"). */
const PATH = '/v1/traces';

/**
 * The address to which spans are posted: an endpoint without a path gets that of the standard.
 *
 * @throws TracingError `invalidEndpoint`: neither http nor https, or with a user, password, query or fragment, which would be
 *   logged.
 */
export function otlpAddress(endpoint: string): string {
  const url = URL.canParse(endpoint) ? new URL(endpoint) : undefined;
  const isPlain =
    url !== undefined &&
    /^https?:$/.test(url.protocol) &&
    [url.username, url.password, url.search, url.hash].every((part) => part === '');
  if (!isPlain) {
    const shown = url === undefined ? quoteText(endpoint) : 'another address';
    const message = `cannot send spans: found ${shown}; wanted an address with http or https and no user, password, query or fragment`;
    throw new TracingError('invalidEndpoint', message);
  }
  if (url.pathname === '/') url.pathname = PATH;
  return url.href;
}
