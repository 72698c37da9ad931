import { type PipeSecurity, EVERYBODY, type IdentifyClient } from '@wins/base';
import type { Server } from '@grpc/grpc-js';
import { listenPipe, type PipeListener } from '@wins/pipe-transport';
import type { Logger } from './log/logger.js';
import type { Callers } from './rpc/administrators-only.js';
import { createCallServer, type CallServer } from './rpc/call-server.js';
import { Connections, type ConnectionsOptions, type PipeResources } from './rpc/connections.js';
import type { CurrentTrace } from './rpc/trace-context.js';
import { ClientScheduler, type ClientSchedulerOptions } from './admission/client-scheduler.js';
import { Slots, type SlotsOptions } from './admission/slots.js';
import type { DaemonResources } from './admission/daemon-resources.js';
import { repeatLog } from './admission/repeat-counter.js';
import type { DaemonEvents, DaemonPipe } from './daemon-events.js';

export interface PipeParts {
  readonly pipe: string;
  /** Default: a Unix socket has mode 0600. */
  readonly security: PipeSecurity | undefined;
  /** Default: clients are not identified, and none is an administrator. */
  readonly identify: IdentifyClient | undefined;
  readonly logger: Logger;
  readonly events: DaemonEvents;
  readonly resources: DaemonResources;
  readonly currentTrace: CurrentTrace;
  /** Adds the services before the first call. Default: the creator of the pipe adds them. */
  readonly addServices?: (server: Server, callers: Callers) => void;
}

export interface ServedPipeOptions
  extends Omit<PipeParts, 'resources'>, Pick<ConnectionsOptions, 'read'> {
  readonly kind: ConnectionsOptions['pipe'];
  readonly what: string;
  readonly resources: PipeResources & Pick<SlotsOptions, 'connections' | 'handshakes'>;
  readonly turnEnded?: ClientSchedulerOptions['ended'];
}

/** A pipe with a gRPC server. Calls are queued until `open`. */
export class ServedPipe {
  readonly connections: Connections;
  readonly identify: IdentifyClient;
  readonly scheduler: ClientScheduler;
  readonly #options: ServedPipeOptions;
  readonly #paused: ReturnType<typeof repeatLog>;
  readonly #turnedAway: ReturnType<typeof turnedAwayLog>;
  #calls: CallServer | undefined;
  #listener: PipeListener | undefined;
  open: () => void = () => undefined;

  constructor(options: ServedPipeOptions) {
    const { logger, events, kind, resources, currentTrace, read, turnEnded: ended } = options;
    this.#options = options;
    this.identify = options.identify ?? (() => EVERYBODY);
    const paused = 'a client was paused: it used its share of the processor';
    this.#paused = repeatLog(logger, 'warn', paused);
    this.#turnedAway = turnedAwayLog(kind, logger, events);
    this.scheduler = new ClientScheduler({
      ...(ended && { ended }),
      paused: ({ key, description: client }) => this.#paused.add(key, { client }),
    });
    const opened = new Promise<void>((resolve) => (this.open = resolve));
    const calls = (): CallServer => (this.#calls ??= this.#serve());
    const { scheduler } = this;
    this.connections = new Connections({
      calls,
      opened,
      logger,
      events,
      scheduler,
      read,
      pipe: kind,
      resources,
      currentTrace,
    });
  }

  /** The gRPC server of this pipe. It is created on first use, because a pipe without clients needs no server. */
  get server(): Server {
    return (this.#calls ??= this.#serve()).server;
  }

  /** Resolves with the address. May be called again after a failure. @throws PipeError. */
  async listen(): Promise<string> {
    const { pipe, resources, security, logger, what } = this.#options;
    const { connections, handshakes } = resources;
    const { turnedAway } = this.#turnedAway;
    const slots = new Slots({ connections, handshakes, turnedAway });
    let acceptedAt = 0;
    this.#listener = await listenPipe(pipe, {
      identify: (socket) => {
        acceptedAt = performance.now();
        return this.identify(socket);
      },
      onConnection: (socket, client) => {
        const slot = slots.enter(socket, client);
        this.scheduler.admit(socket, client, acceptedAt, () =>
          this.connections.admit(socket, client, slot),
        );
      },
      maxConnections: connections.row.total + handshakes.row.total,
      onError: (error) => logger.debug({ err: error, code: error.code }, what),
      security,
    });
    const { address } = this.#listener.path;
    logger.debug({ address }, `the ${what} is open`);
    return address;
  }

  /** Lets pending answers finish for `graceMs`, then ends all connections. */
  async drain(graceMs: number): Promise<void> {
    // From now on every connection is read freely, so that data sent before the end still arrives.
    this.scheduler[Symbol.dispose]();
    await this.connections.close(graceMs);
  }

  /** Releases the pipe for the next daemon. */
  async close(): Promise<void> {
    await this.#listener?.close();
    this.#turnedAway[Symbol.dispose]();
    this.#paused[Symbol.dispose]();
  }

  #serve(): CallServer {
    const calls = createCallServer();
    this.#options.addServices?.(calls.server, this.connections);
    return calls;
  }
}

const NAMES: Readonly<Record<DaemonPipe, string>> = {
  main: 'gRPC',
  admin: 'admin',
  tunnel: 'tunnel',
};

/** Publishes an event for each connection that {@link Slots} closed, and logs a count for similar ones. Disposal logs the last counts. */
export function turnedAwayLog(
  pipe: DaemonPipe,
  logger: Logger,
  events: DaemonEvents,
): Pick<SlotsOptions, 'turnedAway'> & Disposable {
  const repeats = repeatLog(logger, 'warn', 'connections were turned away');
  return {
    turnedAway: ({ key, description: client }, why) => {
      repeats.add(`${why} ${key}`, { pipe: NAMES[pipe], why, client });
      events.publish({ type: 'connection', pipe, phase: 'refused', rule: why });
    },
    [Symbol.dispose]: () => repeats[Symbol.dispose](),
  };
}
