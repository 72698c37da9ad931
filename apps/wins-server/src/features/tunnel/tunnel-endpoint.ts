import type { PipeSecurity, ClientDescription, ClientIdentity, IdentifyClient } from '@wins/base';
import type { TunnelLimits } from '@wins/config';
import { listenPipe } from '@wins/pipe-transport';
import {
  createConnectLimits,
  serveTunnel,
  TunnelError,
  TunnelHandshakes,
  type ServerTunnel,
  type TunnelTraffic,
  type TunnelWebSocket,
} from '@wins/tcp-tunnel';
import type { Duplex } from 'node:stream';
import type { ClientScheduler } from '../../kernel/admission/client-scheduler.js';
import type { DaemonResources } from '../../kernel/admission/daemon-resources.js';
import { Slots, type Slot } from '../../kernel/admission/slots.js';
import { turnedAwayLog } from '../../kernel/served-pipe.js';
import { repeatLog } from '../../kernel/admission/repeat-counter.js';
import { AUDIT, type AuditTrail } from '../../kernel/audit/audit-trail.js';
import type { Logger } from '../../kernel/log/logger.js';
import type { DaemonEvents } from '../../kernel/daemon-events.js';
import { noticeSilence } from './slow-stream.js';
import { beginDialOf } from './begin-dial.js';
import { traceStream } from './trace-stream.js';

const DRAIN_MS = 2000;

interface Guest {
  readonly client: ClientIdentity;
  readonly slot: Slot;
}

export interface TunnelEndpointOptions {
  readonly pipe: string;
  /** Ports of the host's loopback; an empty list allows none. */
  readonly allowedPorts: readonly number[];
  readonly allowedUdpPorts: readonly number[];
  readonly limits: TunnelLimits;
  readonly security: PipeSecurity | undefined;
  readonly identify: IdentifyClient;
  readonly resources: Pick<DaemonResources, 'streams' | 'dials' | 'tunnels' | 'tunnelHandshakes'>;
  readonly scheduler: ClientScheduler;
  readonly audit: Pick<AuditTrail, 'counted' | 'decided'>;
  readonly logger: Logger;
  readonly events: DaemonEvents;
}

export interface OpenSession {
  readonly name: string;
  readonly client: ClientDescription;
  readonly openedAt: Date;
  readonly streams: number;
  readonly traffic: Readonly<TunnelTraffic>;
}

export interface TunnelFigures {
  /** Includes connections in the handshake. */
  readonly connections: number;
  readonly sessions: number;
  readonly streams: number;
  readonly flows: number;
  /** Includes ended sessions. */
  readonly traffic: Readonly<TunnelTraffic>;
}

export interface TunnelEndpoint {
  readonly address: string;
  figures(): TunnelFigures;
  list(): readonly OpenSession[];
  /** Replaces the allowed ports for new streams; open streams continue. */
  allowPorts(ports: readonly number[], udpPorts: readonly number[]): void;
  /** Accepts no new clients or streams, gives open streams 2 s to end, and closes. Idempotent. */
  close(): Promise<void>;
}

/**
 * Listens on a pipe, where a WebSocket handshake on any path opens a tunnel for TCP streams and UDP flows to allowed ports.
 *
 * @throws PipeError.
 */
export async function openTunnelEndpoint(options: TunnelEndpointOptions): Promise<TunnelEndpoint> {
  const { limits, logger, audit, events } = options;
  const turnedAway = turnedAwayLog('tunnel', logger, events);
  const { tunnels, tunnelHandshakes } = options.resources;
  const slots = new Slots({
    connections: tunnels,
    handshakes: tunnelHandshakes,
    turnedAway: turnedAway.turnedAway,
  });
  const connects = createConnectLimits();
  const overRate = repeatLog(
    logger,
    'warn',
    'refused to connect: too many connections in a short time',
  );
  const handshakes = new TunnelHandshakes<Guest>({
    timeoutMs: limits.handshakeTimeoutMs,
    authorize: ({ clientName }, { slot }) => clientName !== '' && slot.settle(),
    opened: (webSocket, socket, guest, { clientName }) => {
      const mayRead = (): boolean => !webSocket.isPaused;
      serve(webSocket, socket, guest, clientName);
      options.scheduler.watch(socket, { client: guest.client, what: 'tunnel', mayRead });
    },
  });
  const sessions = new Map<ServerTunnel, Pick<OpenSession, 'name' | 'client' | 'openedAt'>>();
  let ended: Readonly<TunnelTraffic> = {
    receivedBytes: 0,
    sentBytes: 0,
    pauses: 0,
    droppedDatagrams: 0,
  };
  let { allowedPorts, allowedUdpPorts } = options;
  let lastId = 0;

  const serve = (
    webSocket: TunnelWebSocket,
    localConnection: Duplex,
    { client, slot }: Guest,
    clientSays: string,
  ): void => {
    lastId += 1;
    const requester = `tunnel:${lastId}`;
    const who = { requester, clientSays, client: client.description };
    // An open tunnel is never idle: its client waits for connections on it.
    slot.begin();
    const session = serveTunnel(webSocket, {
      localConnection,
      allowedPorts,
      allowedUdpPorts,
      maxStreams: limits.maxStreams,
      limits: connects.of(client.key),
      beginDial: (begin) => beginDialOf(options.resources.dials, client, begin),
      takeStream: (end, isIdle) => {
        const claim = options.resources.streams.take(client, { end, isIdle });
        return claim && (() => claim.release());
      },
      onPeerNeverPauses: () =>
        logger.info(who, 'this client cannot pause one stream: a slow program holds up its others'),
      onStream: (stream, port) => {
        traceStream(logger, stream, { requester, port });
        noticeSilence(stream, () => events.publish({ type: 'stream', phase: 'slow', port }));
        stream.once('error', (error) => {
          const code = error instanceof TunnelError ? error.code : undefined;
          if (code === 'readerStopped' || code === 'streamIdle')
            events.publish({ type: 'stream', phase: 'cut', port, code });
        });
      },
      onDialed: (port, failure) => {
        if (failure !== undefined)
          events.publish({ type: 'stream', phase: 'failed', port, code: failure.code });
        else if (events.isCounted) events.publish({ type: 'stream', phase: 'connected', port });
      },
      onConnect: ({ allowed, rule, port, address }, isTold) => {
        options.scheduler.nameTurn('Connect');
        try {
          if (isTold) {
            // For speed, `about` does not copy `who`: V8 would give each copied and extended object its own hidden class.
            const { description } = client;
            const about = { requester, clientSays, client: description, address, port };
            void audit.decided(
              allowed
                ? { action: 'connect', verdict: 'allowed', rule, ...about }
                : { action: 'connect', verdict: 'refused', rule, ...about },
              client.key,
            );
          } else {
            // During a flood, the audit log gets only the client and the number of connects.
            const verdict = 'refused';
            const flood = { action: 'connect', verdict, ...who, rule: 'connect-rate' } as const;
            audit.counted(flood, client.key);
            overRate.add(client.key, { log: AUDIT, ...flood });
          }
          return true;
        } catch {
          return false;
        }
      },
    });
    sessions.set(session, { name: requester, client: client.description, openedAt: new Date() });
    logger.info(who, 'tunnel opened');
    events.publish({ type: 'tunnel', phase: 'opened', session: requester });
    void session.closed.then(async ({ reason, ...detail }) => {
      const err = 'error' in detail ? detail.error : undefined;
      logger.info({ requester, reason, ...(err !== undefined && { err }) }, 'tunnel ended');
      events.publish({ type: 'tunnel', phase: 'ended', session: requester, reason });
      // Complete messages are still being delivered, and count as traffic.
      await session.drain();
      ended = sum(ended, session.traffic);
      sessions.delete(session);
    });
  };

  let acceptedAt = 0;
  const listener = await listenPipe(options.pipe, {
    security: options.security,
    maxConnections: tunnels.row.total + tunnelHandshakes.row.total,
    handshakeTimeoutMs: limits.handshakeTimeoutMs,
    identify: (socket) => {
      acceptedAt = performance.now();
      return options.identify(socket);
    },
    onConnection: (socket, client) => {
      if (logger.isLevelEnabled('debug'))
        logger.debug({ pipe: 'tunnel', client: client.description }, 'connection accepted');
      if (events.isCounted) events.publish({ type: 'connection', pipe: 'tunnel', phase: 'opened' });
      socket.once('close', () => {
        if (events.isCounted)
          events.publish({ type: 'connection', pipe: 'tunnel', phase: 'closed' });
      });
      const slot = slots.enter(socket, client);
      options.scheduler.admit(socket, client, acceptedAt, () =>
        handshakes.begin(socket, { client, slot }),
      );
    },
    onError: (error) => logger.debug({ err: error, code: error.code }, 'tunnel pipe'),
  });

  const drain = async (): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<void>((resolve) => (timer = setTimeout(resolve, DRAIN_MS)));
    await Promise.race([late, Promise.all([...sessions.keys()].map((session) => session.drain()))]);
    clearTimeout(timer);
    await Promise.all([...sessions.keys()].map((session) => session.close()));
  };
  const close = async (): Promise<void> => {
    handshakes.refuse();
    await Promise.all([listener.close({ graceMs: DRAIN_MS }), drain()]);
    turnedAway[Symbol.dispose]();
    overRate[Symbol.dispose]();
  };
  let closing: Promise<void> | undefined;
  return {
    address: listener.path.address,
    figures: () => {
      const open = [...sessions.keys()];
      return {
        connections: slots.size,
        sessions: open.length,
        streams: open.reduce((count, { streamCount }) => count + streamCount, 0),
        flows: open.reduce((count, { flowCount }) => count + flowCount, 0),
        traffic: open.reduce((all, { traffic }) => sum(all, traffic), ended),
      };
    },
    list: () =>
      [...sessions].map(([{ streamCount: streams, traffic }, about]) => ({
        ...about,
        streams,
        traffic,
      })),
    allowPorts: (ports, udpPorts) => {
      allowedPorts = ports;
      allowedUdpPorts = udpPorts;
      for (const session of sessions.keys()) session.allowPorts(ports, udpPorts);
    },
    close: () => (closing ??= close()),
  };
}

function sum(one: Readonly<TunnelTraffic>, other: Readonly<TunnelTraffic>): TunnelTraffic {
  return {
    receivedBytes: one.receivedBytes + other.receivedBytes,
    sentBytes: one.sentBytes + other.sentBytes,
    pauses: one.pauses + other.pauses,
    droppedDatagrams: one.droppedDatagrams + other.droppedDatagrams,
  };
}
