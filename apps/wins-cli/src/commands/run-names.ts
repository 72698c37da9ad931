import { resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, routeGrpcLog, type WinsClient } from '@wins/wins-api';
import { DEFAULT_PIPE_NAME } from '@wins/base';
import { once } from 'node:events';
import { clientName } from '../daemon/client-label.js';
import { connectTrustedPipe } from '../daemon/trusted-pipe.js';
import { listDetached } from './list-detached.js';
import { nameOf } from './process-ls.js';

/** @throws Error when no valid answer arrives before the signal aborts. */
export function runNames(server: string | undefined, signal: AbortSignal) {
  return ask(server, signal, async (client) =>
    (await client.listProcesses({ signal })).map(nameOf),
  );
}

/** @throws Error when no valid answer arrives before the signal aborts. */
export function detachedRunNames(server: string | undefined, signal: AbortSignal) {
  return ask(server, signal, async (client) => (await listDetached(client, signal)).names ?? []);
}

async function ask(
  server = DEFAULT_PIPE_NAME,
  signal: AbortSignal,
  names: (client: WinsClient) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  // Suppresses the log, because a shell is completing a word on this terminal.
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
    return await Promise.race([names(client), late]);
  } finally {
    void client.close().catch(() => undefined);
  }
}
