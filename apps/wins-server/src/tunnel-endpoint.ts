import type { TunnelLimits } from '@wins/config';
import { listenPipe, type PipeSecurity } from '@wins/pipe-transport';
import {
  createConnectLimits,
  serveTunnel,
  webSocketServerOptions,
  type ServerTunnel,
} from '@wins/tcp-tunnel';
import { createServer, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import type { ClientIdentity, IdentifyClient } from './admission/client-identity.js';
import type { ClientTurns } from './admission/client-turns.js';
import { Places, type Place } from './admission/places.js';
import { Tally } from './admission/tally.js';
import { TurnedAwayLog } from './admission/turned-away-log.js';
import type { AuditTrail } from './audit/audit-trail.js';
import { limitHandshake } from './rpc/limit-handshake.js';
import type { Logger } from './log/logger.js';
import { ownWords } from './rpc/own-words.js';

/** What a client of the tunnel must say of itself; every release does. */
const CLIENT_HEADER = 'rancher-wins-cli-proxy';
/** How long streams may go on once the daemon ends. */
const DRAIN_MS = 2000;
const HEADER_BYTES = 8 * 1024;
const MOST_HEADERS = 64;
/** Connections that have not greeted yet. */
const GREETINGS = 64;

/** What a tunnel pipe is opened with. */
export interface TunnelEndpointOptions {
  /** Name of the pipe. */
  readonly pipe: string;
  /** Ports of the host's loopback that clients may reach; an empty list allows none. */
  readonly allowedPorts: readonly number[];
  readonly limits: TunnelLimits;
  readonly security: PipeSecurity | undefined;
  readonly identify: IdentifyClient;
  /** Measures what each open tunnel costs. */
  readonly turns: ClientTurns;
  readonly audit: Pick<AuditTrail, 'counted' | 'decided'>;
  readonly logger: Logger;
}

/** A tunnel pipe that is served. Whoever opened it closes it. */
export interface TunnelEndpoint {
  readonly address: string;
  /** Replaces the allowed ports for streams to come; those that are open stay. */
  allowPorts(ports: readonly number[]): void;
  /** Takes no new clients and streams, lets streams end for 2 s, and closes. Idempotent. */
  close(): Promise<void>;
}

/**
 * Serves the tunnel pipe: a WebSocket handshake on any path, then many TCP streams to allowed ports.
 *
 * @throws PipeError when the pipe cannot be served.
 */
export async function openTunnelEndpoint(options: TunnelEndpointOptions): Promise<TunnelEndpoint> {
  const { limits, logger, audit } = options;
  const turnedAway = new TurnedAwayLog('tunnel', logger);
  const places = new Places({
    places: limits.maxSessions,
    placesPerClient: Math.max(1, Math.floor(limits.maxSessions / 2)),
    greetings: GREETINGS,
    turnedAway: turnedAway.add,
  });
  const connects = createConnectLimits();
  const untold = new Tally<object>((facts, times) =>
    logger.warn({ audit: true, ...facts, times }, 'Connects beyond the rate'),
  );
  const handshakes = new Handshakes(
    limits.handshakeTimeoutMs,
    (webSocket, socket, guest, label) => {
      const mayResume = (): boolean => !webSocket.isPaused;
      serve(webSocket, guest, label);
      options.turns.watch(socket, { client: guest.client, what: 'tunnel', mayResume });
    },
  );
  const sessions = new Set<ServerTunnel>();
  let { allowedPorts } = options;
  let lastId = 0;

  const serve = (webSocket: WebSocket, { client, place }: Guest, clientSays: string): void => {
    lastId += 1;
    const requester = `tunnel:${lastId}`;
    const who = { requester, clientSays, client: client.description };
    // An open tunnel never makes room: whoever has one waits for connections.
    place.begin();
    const session = serveTunnel(webSocket, {
      allowedPorts,
      maxChannels: limits.maxStreams,
      limits: connects.of(client.key),
      onConnect: ({ allowed, rule, port, address }, isTold) => {
        const action = 'connect';
        const verdict = allowed ? 'allowed' : 'refused';
        try {
          if (isTold) {
            const decision = { action, verdict, rule, ...who, address, port };
            void audit.decided(decision, client.key);
          } else {
            // Of a flood, the client and the number.
            const flood = { action, verdict, rule: 'connect-rate', ...who };
            audit.counted(flood, client.key);
            untold.add(client.key, flood);
          }
          return true;
        } catch {
          return false;
        }
      },
    });
    sessions.add(session);
    logger.info({ event: 'opened', ...who }, 'tunnel');
    void session.closed.then(async ({ reason, ...detail }) => {
      const err = 'error' in detail ? detail.error : undefined;
      logger.info(
        { event: 'ended', requester, reason, ...(err !== undefined && { err }) },
        'tunnel',
      );
      // What was received completely is still being handed over.
      await session.drain();
      sessions.delete(session);
    });
  };

  const listener = await listenPipe(options.pipe, {
    security: options.security,
    maxConnections: limits.maxSessions + GREETINGS,
    handshakeTimeoutMs: limits.handshakeTimeoutMs,
    onConnection: (socket) => {
      const client = options.identify(socket);
      handshakes.begin(socket, { client, place: places.enter(socket, client) });
    },
    onError: (error) => logger.debug({ err: error, code: error.code }, 'tunnel pipe'),
  });

  const drain = async (): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, DRAIN_MS)));
    await Promise.race([late, Promise.all([...sessions].map((session) => session.drain()))]);
    clearTimeout(timer);
    await Promise.all([...sessions].map((session) => session.close()));
  };
  const close = async (): Promise<void> => {
    handshakes.refuse();
    await Promise.all([listener.close({ graceMs: DRAIN_MS }), drain()]);
    turnedAway[Symbol.dispose]();
    untold[Symbol.dispose]();
  };
  let closing: Promise<void> | undefined;
  return {
    address: listener.path.address,
    allowPorts: (ports) => {
      allowedPorts = ports;
      for (const session of sessions) session.allowPorts(ports);
    },
    close: () => (closing ??= close()),
  };
}

/** An accepted connection as the system knows it. */
interface Guest {
  readonly client: ClientIdentity;
  readonly place: Place;
}

/** From an accepted connection to an open WebSocket, or to its end. */
class Handshakes {
  private readonly http = createServer({ maxHeaderSize: HEADER_BYTES, keepAlive: false });
  private readonly webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    ...webSocketServerOptions(),
  });
  private refusing = false;

  constructor(
    private readonly timeoutMs: number,
    private readonly done: (
      webSocket: WebSocket,
      socket: Duplex,
      guest: Guest,
      label: string,
    ) => void,
  ) {
    this.http.maxHeadersCount = MOST_HEADERS;
    this.http.on('request', (_request, response) => {
      response.writeHead(426, { upgrade: 'websocket', connection: 'upgrade, close' }).end();
    });
    this.http.on('upgrade', (request, socket, head) => this.upgrade(request, socket, head));
  }

  begin(socket: Socket, guest: Guest): void {
    // The server never listens, so its own timers do not run. A deadline for the whole is simpler anyway.
    this.guests.set(socket, { ...guest, endLimit: limitHandshake(socket, this.timeoutMs) });
    this.http.emit('connection', socket);
  }

  /** From now on nobody gets in. */
  refuse(): void {
    this.refusing = true;
  }

  private readonly guests = new WeakMap<Duplex, Guest & { readonly endLimit: () => void }>();

  private upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const label = clientOf(request);
    const guest = this.guests.get(socket);
    if (guest === undefined || this.refusing) {
      answer(socket, 503);
      return;
    }
    if (label === '') {
      answer(socket, 401);
      return;
    }
    if (!guest.place.settle()) return;
    this.webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      guest.endLimit();
      this.done(webSocket, socket, guest, label);
    });
  }
}

function clientOf(request: IncomingMessage): string {
  return ownWords(String(request.headers[CLIENT_HEADER] ?? '').trim());
}

function answer(socket: Duplex, status: number): void {
  const text = STATUS_CODES[status] ?? '';
  socket.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
