import {
  DEFAULT_PIPE_NAME,
  TextError,
  quoteText,
  resolvePipePath,
  type Complete,
} from '@wins/base';
import { WinsClientError } from './client-error.js';
import type { WinsClientOptions } from './wins-client.js';

/** The metadata key that carries `clientName`. */
export const CLIENT_NAME_METADATA_KEY = 'wins-client';

const DEFAULT_CONNECT_TIMEOUT_MS = 5000;
/** Maximum delay of a Node timer. */
export const MAX_TIMEOUT_MS = 2 ** 31 - 1;
const CLIENT_NAME = /^[\x21-\x7e](?:[\x20-\x7e]{0,126}[\x21-\x7e])?$/;

/** @throws WinsClientError `invalidRequest` */
export function checkOptions(
  options: WinsClientOptions,
): Complete<Omit<WinsClientOptions, 'dial' | 'answerTimeoutMs' | 'onCallEvent'>> {
  const { connectTimeoutMs = DEFAULT_CONNECT_TIMEOUT_MS, clientName = '' } = options;
  const refuse = (details: string) => new WinsClientError('invalidRequest', { details });
  const address = addressOf(options.address ?? DEFAULT_PIPE_NAME);
  const { answerTimeoutMs = MAX_TIMEOUT_MS } = options;
  for (const [name, timeoutMs] of Object.entries({ connectTimeoutMs, answerTimeoutMs })) {
    if (timeoutMs > 0 && timeoutMs <= MAX_TIMEOUT_MS) continue;
    throw refuse(`invalid ${name} ${timeoutMs}: wanted 1 to ${MAX_TIMEOUT_MS}`);
  }
  if (clientName !== '' && !CLIENT_NAME.test(clientName)) {
    const wanted =
      'wanted at most 128 printable ASCII characters that neither start nor end with a space';
    throw refuse(`invalid clientName ${quoteText(clientName)}: ${wanted}`);
  }
  return { address, connectTimeoutMs, clientName };
}

function addressOf(pipe: string): string {
  try {
    return resolvePipePath(pipe).address;
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    throw new WinsClientError('invalidRequest', { details: error.message, cause: error });
  }
}
