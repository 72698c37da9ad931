import { resolvePipePath } from '@wins/pipe-transport';
import { createUnaryClient } from '@wins/wins-api/unary';
import { DEFAULT_PIPE_NAME } from '@wins/wins-program';
import { once } from 'node:events';
import { clientLabel } from '../daemon/client-label.js';
import { connectTrustedPipe } from '../daemon/trusted-pipe.js';
import { Http2Transport } from '../daemon/http2-transport.js';

/**
 * The names of what the daemon runs.
 *
 * @throws When there is no answer before the signal, or another than the names.
 */
export async function runNames(
  server = DEFAULT_PIPE_NAME,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const open = (closing: AbortSignal) => connectTrustedPipe(server, { signal: closing });
  const client = createUnaryClient({
    address: resolvePipePath(server).address,
    clientName: `${clientLabel()}/${process.pid}`,
    transport: new Http2Transport(open),
  });
  const late = once(signal, 'abort').then(() => {
    throw new Error('no answer in time');
  });
  try {
    const processes = await Promise.race([client.listProcesses({ signal }), late]);
    return processes.map(({ Name }) => Name?.Value ?? '');
  } finally {
    void client.close().catch(() => undefined);
  }
}
