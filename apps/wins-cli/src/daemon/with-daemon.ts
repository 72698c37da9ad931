import { createUnaryClient, type UnaryClient } from '@wins/wins-api/unary';
import { withClients, type Task } from './connect-daemon.js';
import type { DaemonAddress } from './daemon-address.js';
import { transportTo } from './transport-to.js';

/** Runs a task with a client for all calls that have one answer, as {@link withClients} does. */
export function withDaemon<T>(address: DaemonAddress, task: Task<UnaryClient, T>): Promise<T> {
  return withClients(address, task, (options) =>
    createUnaryClient({ ...options, transport: transportTo(address) }),
  );
}
