import {
  type ClientIdentity,
  EVERYBODY,
  type IdentifyClient,
} from '../kernel/admission/client-identity.js';
import { ClientTurns } from '../kernel/admission/client-turns.js';
import { Places } from '../kernel/admission/places.js';
import { tallyLog } from '../kernel/admission/tally.js';
import type { Server } from '@grpc/grpc-js';
import { listenPipe, type PipeSecurity } from '@wins/pipe-transport';
import type { DaemonEvents } from '../kernel/daemon-events.js';
import type { Logger } from '../log/logger.js';
import { createCallServer } from '../rpc/call-server.js';
import { Connections } from '../rpc/connections.js';
import type { Callers } from '../rpc/administrators-only.js';

const MIB = 1024 * 1024;
/** An administrator has work for one or two. */
const ROOM = { places: 8, placesPerClient: 8, greetings: 8 };
/** What waits for a client that does not read: a connection may hold 36 MiB. */
const CONNECTIONS = { name: 'admin', inboundOctets: MIB, outboundOctets: 40 * MIB } as const;

/** What the pipe of administrators is opened with. */
export interface AdminEndpointOptions {
  /** Its own name. */
  readonly pipe: string;
  /** For administrators of the host and the system alone. Default: a Unix socket of mode 0600. */
  readonly security: PipeSecurity | undefined;
  /** Default: clients cannot be told apart, and none is an administrator. */
  readonly identify: IdentifyClient | undefined;
  readonly logger: Logger;
  readonly events: DaemonEvents;
  /** Adds what is served on it. */
  readonly addServices: (server: Server, callers: Callers) => void;
}

/**
 * Serves the pipe of administrators, with limits of its own: eight connections. Until somebody comes there is a pipe, and nothing behind
 * it. Disposing breaks off what is under way.
 *
 * @throws PipeError when it cannot be served.
 */
export async function openAdminEndpoint(options: AdminEndpointOptions): Promise<AsyncDisposable> {
  const { logger, events, identify = () => EVERYBODY } = options;
  const turnedAway = tallyLog(logger, 'warn', 'connections were turned away');
  const places = new Places({
    ...ROOM,
    turnedAway: ({ key, description: client }, why) => {
      turnedAway.add(`${why} ${key}`, { pipe: 'admin', why, client });
      events.publish({ type: 'connection', pipe: 'admin', phase: 'refused', rule: why });
    },
  });
  const turns = new ClientTurns();
  let served: Connections | undefined;
  const serve = (): Connections => {
    const calls = createCallServer();
    const connections = new Connections(
      ...([calls, Promise.resolve(), logger, new Map<string, ClientIdentity>()] as const),
      ...([turns, () => undefined, events, CONNECTIONS] as const),
    );
    options.addServices(calls.server, connections);
    return connections;
  };
  const listener = await listenPipe(options.pipe, {
    security: options.security,
    maxConnections: ROOM.places + ROOM.greetings,
    onConnection: (socket) => {
      served ??= serve();
      const client = identify(socket);
      served.admit(socket, client, places.enter(socket, client));
    },
    onError: (error) => logger.debug({ err: error, code: error.code }, 'admin pipe'),
  });
  let closing: Promise<void> | undefined;
  const close = async (): Promise<void> => {
    turns[Symbol.dispose]();
    await served?.close(0);
    await listener.close();
    turnedAway[Symbol.dispose]();
  };
  return { [Symbol.asyncDispose]: () => (closing ??= close()) };
}
