import { resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, routeGrpcLog, type WinsClient } from '@wins/wins-api';
import { once } from 'node:events';
import { clientName } from './client-label.js';
import { connectTrustedPipe } from './trusted-pipe.js';

/** Asks a daemon something without which the command goes on, and logs nothing. @throws Error when no valid answer arrives before the signal aborts. */
export async function askQuietly<Result>(
  server: string,
  signal: AbortSignal,
  question: (client: WinsClient) => Promise<Result>,
): Promise<Result> {
  routeGrpcLog(() => undefined);
  const client = createWinsClient({
    address: resolvePipePath(server).address,
    clientName: clientName(),
    dial: (closed) => connectTrustedPipe(server, { signal: closed }),
  });
  const late = once(signal, 'abort').then(() => {
    throw new Error('no answer in time');
  });
  try {
    return await Promise.race([question(client), late]);
  } finally {
    void client.close().catch(() => undefined);
  }
}
