import type { Server } from '@grpc/grpc-js';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { ClientIdentity } from '../kernel/admission/client-identity.js';
import { ClientTurns } from '../kernel/admission/client-turns.js';
import { DaemonEvents } from '../kernel/daemon-events.js';
import { createCallServer } from '../kernel/rpc/call-server.js';
import { Connections } from '../kernel/rpc/connections.js';
import { createLoggerTo } from '../kernel/log/logger.js';

/** For specs: serves calls on a socket path as the daemon does, until it is disposed. */
export async function serveCalls(
  address: string,
  addServices: (server: Server, connections: Connections) => void,
  log: (line: string) => void = () => undefined,
  client?: ClientIdentity,
  calls = createCallServer(),
): Promise<AsyncDisposable> {
  const logger = createLoggerTo({ debug: false, quiet: false }, { write: log });
  const connections = new Connections({
    ...{ calls: () => calls, opened: Promise.resolve(), logger },
    ...{ events: new DaemonEvents(), turns: new ClientTurns() },
    room: { name: 'main', inboundOctets: 2 ** 26, outboundOctets: 2 ** 27 },
  });
  addServices(calls.server, connections);
  const listener = createServer((socket) => connections.admit(socket, client));
  listener.listen(address);
  await once(listener, 'listening');
  return {
    [Symbol.asyncDispose]: async () => {
      await connections.close(0);
      listener.close();
      await once(listener, 'close');
    },
  };
}
