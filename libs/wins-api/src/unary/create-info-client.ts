import { ApplicationServiceService } from '../gen/application.js';
import { presentIn } from '../present-in.js';
import type { UnaryClient } from '../wins-client.js';
import { TransportCalls, type UnaryClientOptions } from './transport-calls.js';

/** The part of a client that asks which build of the daemon answers. */
export type InfoClient = Pick<UnaryClient, 'info' | 'close' | typeof Symbol.asyncDispose>;

/**
 * Makes a client for `info` alone, without the messages of all other calls: a program that asks nothing else starts faster. Nothing is
 * opened before the call; the caller closes the client.
 *
 * @throws WinsClientError `invalidRequest` when an option makes no sense
 */
export function createInfoClient(options: UnaryClientOptions): InfoClient {
  const calls = new TransportCalls(options);
  const method = { definition: ApplicationServiceService.info, isRepeatable: true };
  const close = (): Promise<void> => calls.close();
  return {
    info: async (callOptions = {}) => {
      const { Info } = await calls.unary('Info', method, {}, callOptions);
      return presentIn({ method: 'Info', address: calls.address }, Info);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}
