import { resolvePipePath } from '@wins/pipe-transport';
import { createWinsClient, routeGrpcLog } from '@wins/wins-api';
import { DEFAULT_PIPE_NAME } from '@wins/base';
import { once } from 'node:events';
import { clientName } from '../daemon/client-label.js';
import { connectTrustedPipe } from '../daemon/trusted-pipe.js';
import { nameOf } from './process-ls.js';

/** @throws Error when no valid answer arrives before the signal aborts. */
export async function runNames(server = DEFAULT_PIPE_NAME, signal: AbortSignal) {
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
    const processes = await Promise.race([client.listProcesses({ signal }), late]);
    return processes.map(nameOf);
  } finally {
    void client.close().catch(() => undefined);
  }
}
