import type { Server } from '@grpc/grpc-js';
import { AsyncLocalStorage } from 'node:async_hooks';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ClientIdentity } from '@wins/base';
import { ClientScheduler } from '../kernel/admission/client-scheduler.js';
import { daemonResources } from '../kernel/admission/daemon-resources.js';
import { DaemonEvents } from '../kernel/daemon-events.js';
import { createCallServer } from '../kernel/rpc/call-server.js';
import { Connections } from '../kernel/rpc/connections.js';
import { createLoggerTo } from '../kernel/log/logger.js';

export async function serveCalls(
  address: string,
  addServices: (server: Server, connections: Connections) => void,
  log: (line: string) => void = () => undefined,
  client?: ClientIdentity | (() => ClientIdentity),
  calls = createCallServer(),
): Promise<AsyncDisposable> {
  const logger = createLoggerTo({ debug: false, quiet: false }, { write: log });
  const resources = daemonResources(logger);
  const scheduler = new ClientScheduler();
  const connections = new Connections({
    calls: () => calls,
    opened: Promise.resolve(),
    logger,
    events: new DaemonEvents(),
    scheduler,
    pipe: 'main',
    resources,
    currentTrace: new AsyncLocalStorage(),
  });
  addServices(calls.server, connections);
  const listener = createServer((socket) =>
    connections.admit(socket, typeof client === 'function' ? client() : client),
  );
  listener.listen(address);
  await once(listener, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      scheduler[Symbol.dispose]();
      await connections.close(0);
      listener.close();
      await once(listener, 'close');
    },
  };
}
