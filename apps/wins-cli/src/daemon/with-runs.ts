import { routeGrpcLog } from '@wins/wins-api';
import { createRawClient, type RawClient } from '@wins/wins-api/raw';
import { withClients, type Task } from './connect-daemon.js';
import type { DaemonAddress } from './daemon-address.js';
import { connectTrustedPipe } from './trusted-pipe.js';

/** Does what `withDaemon` does with a client that runs programs and follows them, which takes longer to load. */
export function withRuns<T>(address: DaemonAddress, task: Task<RawClient, T>): Promise<T> {
  return withClients(address, task, (options) => {
    routeGrpcLog((line) => process.stderr.write(`wins: gRPC: ${line}\n`));
    const { server, connectTimeoutMs: timeoutMs } = address;
    const dial = () => connectTrustedPipe(server, { timeoutMs });
    return createRawClient({ ...options, ...(process.platform === 'win32' && { dial }) });
  });
}
