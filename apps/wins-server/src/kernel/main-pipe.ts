import { ClientTurns } from './admission/client-turns.js';
import { EVERYBODY, type ClientIdentity } from './admission/client-identity.js';
import { Places } from './admission/places.js';
import { tallyLog } from './admission/tally.js';
import { listenPipe, type PipeListener } from '@wins/pipe-transport';
import { collectReads } from './service-runtime/memory/memory-return.js';
import { routeGrpcLog } from '@wins/wins-api';
import type { Server } from '@grpc/grpc-js';
import { slowTurnLog } from '../admission/slow-turn-watch.js';
import type { Logger } from '../log/logger.js';
import type { DaemonSystem } from '../operating-system.js';
import { createCallServer } from '../rpc/call-server.js';
import { Connections } from '../rpc/connections.js';
import type { DaemonEvents } from './daemon-events.js';

/** How long answers may still be on their way once all processes have ended. */
const DRAIN_MS = 2000;
/**
 * Connections of the gRPC pipe: a client has work for few, and one that takes them all must not
 * keep others out.
 */
const ROOM = { places: 1024, placesPerClient: 256, greetings: 256 };

/** What the main pipe is served with. */
export interface MainPipeOptions {
  /** Its name. */
  readonly listen: string;
  readonly system: Pick<DaemonSystem, 'pipeSecurity' | 'identify'>;
  readonly logger: Logger;
  readonly events: DaemonEvents;
}

/** The pipe of containers. Calls wait until it is opened for them. */
export class MainPipe {
  readonly server: Server;
  readonly connections: Connections;
  readonly clients = new Map<string, ClientIdentity>();
  readonly identify: NonNullable<DaemonSystem['identify']>;
  readonly turns: ClientTurns;
  readonly #options: MainPipeOptions;
  readonly #paused: ReturnType<typeof tallyLog>;
  readonly #turnedAway: ReturnType<typeof tallyLog>;
  /** Lets in the calls that wait. */
  open: () => void = () => undefined;

  constructor(options: MainPipeOptions) {
    const { logger, events, system } = options;
    this.#options = options;
    this.identify = system.identify ?? (() => EVERYBODY);
    routeGrpcLog((line) => logger.debug({ line }, 'gRPC'));
    this.#paused = tallyLog(
      logger,
      'warn',
      'a client was paused: it used its share of the processor',
    );
    this.#turnedAway = tallyLog(logger, 'warn', 'connections were turned away');
    this.turns = new ClientTurns({
      ended: slowTurnLog(logger),
      paused: ({ key, description: client }) => this.#paused.add(key, { client }),
    });
    const opened = new Promise<void>((resolve) => (this.open = resolve));
    const calls = createCallServer();
    this.server = calls.server;
    this.connections = new Connections(
      ...([calls, opened, logger, this.clients] as const),
      ...([this.turns, collectReads(), events] as const),
    );
  }

  /**
   * Takes connections; their calls wait until {@link open}. The caller closes the listener, last.
   * @throws PipeError
   */
  async listen(): Promise<PipeListener> {
    const { listen, system, logger, events } = this.#options;
    const places = new Places({
      ...ROOM,
      turnedAway: ({ key, description: client }, why) => {
        this.#turnedAway.add(`${why} ${key}`, { pipe: 'gRPC', why, client });
        events.publish({ type: 'connection', pipe: 'main', phase: 'refused', rule: why });
      },
    });
    const listener = await listenPipe(listen, {
      onConnection: (socket) => {
        const client = this.identify(socket);
        this.connections.admit(socket, client, places.enter(socket, client));
      },
      maxConnections: ROOM.places + ROOM.greetings,
      onError: (error) => logger.debug({ err: error, code: error.code }, 'pipe'),
      security: system.pipeSecurity,
    });
    logger.debug({ address: listener.path.address }, 'the gRPC pipe is open');
    return listener;
  }

  /** Lets answers out for 2 s, and ends all connections. */
  async drain(): Promise<void> {
    // What was sent before the end is read.
    this.turns[Symbol.dispose]();
    await this.connections.close(DRAIN_MS);
  }

  /** Logs what was counted and not told yet. */
  [Symbol.dispose](): void {
    this.#turnedAway[Symbol.dispose]();
    this.#paused[Symbol.dispose]();
  }
}
