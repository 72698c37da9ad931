import { status } from '@grpc/grpc-js';
import {
  OctetBudget,
  SegmentPool,
  serveHttp2Connection,
  type EndReason,
  type Http2Connection,
  type ServedStream,
} from '@wins/http2-connection';
import type { ProcessOwner } from '@wins/process-manager';
import { parseTraceparent, type TraceContext } from '../features/tracing/trace-context.js';
import { CLIENT_NAME_METADATA_KEY } from '@wins/wins-api/contract';
import type { Socket } from 'node:net';
import { ClientCalls, MOST_CALLS } from '../kernel/admission/client-calls.js';
import {
  type ClientDescription,
  type ClientIdentity,
  EVERYBODY,
} from '../kernel/admission/client-identity.js';
import { clientLabel } from '../kernel/admission/client-label.js';
import { ClientTurns } from '../kernel/admission/client-turns.js';
import type { Place } from '../kernel/admission/places.js';
import { tallyLog } from '../kernel/admission/tally.js';
import { ANSWER_HEADERS, type CallServer } from './call-server.js';
import type { Logger } from '../log/logger.js';
import { DaemonEvents, type DaemonPipe } from '../kernel/daemon-events.js';
import { RequestTrace } from './request-trace.js';

const MIB = 1024 * 1024;

/** Which pipe the connections are of, and what they may take together. */
export interface ConnectionsRoom {
  /** A connection is `NAME:N`; those of the gRPC pipe are `pipe:N`. */
  readonly name: 'pipe' | 'admin';
  /** What unfinished requests of all clients may take in memory. */
  readonly inboundOctets: number;
  /** What may wait in all for clients that do not read. */
  readonly outboundOctets: number;
}

const MAIN_ROOM: ConnectionsRoom = {
  ...{ name: 'pipe', inboundOctets: 64 * MIB, outboundOctets: 128 * MIB },
};

/** What events call the pipes. */
const PIPES: Readonly<Record<ConnectionsRoom['name'], DaemonPipe>> = {
  pipe: 'main',
  admin: 'admin',
};

/** Ends of connections that say nothing about the client. */
const ORDINARY_ENDS: ReadonlySet<EndReason> = new Set(['clientGone', 'closed', 'idle']);

/** The part of a gRPC call that says who made it. */
export interface Caller {
  getPeer(): string;
  readonly metadata: { get(key: string): readonly (string | Buffer)[] };
}

/** A connection that is open, for an administrator to look at. */
export interface OpenConnection {
  readonly name: string;
  readonly client: ClientDescription;
  readonly openedAt: Date;
  /** Calls under way. */
  readonly calls: number;
  readonly receivedBytes: number;
  readonly sentBytes: number;
}

/** What is kept of one. */
interface Admitted {
  readonly client: ClientIdentity;
  readonly openedAtMs: number;
  readonly socket: Socket;
  readonly disconnected: AbortController;
  calls: number;
}

/**
 * The connections of the gRPC pipe. Each has an identity, `pipe:N`, to which processes belong: a
 * name can be guessed, a connection cannot.
 */
export class Connections {
  readonly #admitted = new Map<string, Admitted>();
  readonly #served = new Set<Http2Connection>();
  readonly #room: ConnectionsRoom;
  readonly #inbound: OctetBudget;
  readonly #outbound: OctetBudget;
  readonly #segments = new SegmentPool();
  readonly #clientCalls = new ClientCalls();
  readonly #faults: ReturnType<typeof tallyLog>;
  readonly #trace: RequestTrace;
  #lastId = 0;
  #isClosing = false;

  readonly #calls: CallServer;
  readonly #opened: Promise<void>;
  readonly #logger: Logger;
  readonly #clients: Map<string, ClientIdentity>;
  readonly #turns: ClientTurns;
  readonly #read: (octets: number) => void;
  readonly #events: DaemonEvents;

  /**
   * @param opened - Calls that come before it resolves wait for it.
   * @param clients - Whose each connection is, by its name; it is in there as long as it is open.
   * @param turns - Measures what each connection costs. The owner disposes of it.
   * @param read - Called with the octets of each read, before they are processed.
   * @param events - Told of connections and of calls that are over.
   * @param room - Default: that of the gRPC pipe.
   */
  constructor(
    calls: CallServer,
    opened: Promise<void>,
    logger: Logger,
    clients = new Map<string, ClientIdentity>(),
    turns = new ClientTurns(),
    read: (octets: number) => void = () => undefined,
    events = new DaemonEvents(),
    room = MAIN_ROOM,
  ) {
    this.#room = room;
    this.#inbound = new OctetBudget(room.inboundOctets);
    this.#outbound = new OctetBudget(room.outboundOctets);
    this.#calls = calls;
    this.#opened = opened;
    this.#logger = logger;
    this.#clients = clients;
    this.#turns = turns;
    this.#read = read;
    this.#events = events;
    this.#faults = tallyLog(logger, 'info', 'connection ended');
    this.#trace = new RequestTrace(logger);
  }

  /** Serves an accepted connection until it ends. */
  admit(socket: Socket, client: ClientIdentity = EVERYBODY, place?: Place): void {
    if (this.#isClosing) {
      socket.destroy();
      return;
    }
    this.#lastId += 1;
    const remotePort = this.#lastId;
    const peer = `${this.#room.name}:${remotePort}`;
    const disconnected = new AbortController();
    const admitted = { client, openedAtMs: Date.now(), socket, disconnected, calls: 0 };
    this.#admitted.set(peer, admitted);
    this.#clients.set(peer, client);
    const acceptedAt = performance.now();
    this.#trace.accepted(peer, client);
    this.#tellConnection('opened');
    const failed = (err: unknown): void =>
      this.#logger.error({ err, peer }, 'a call failed unexpectedly; its connection is closed');
    const connection = serveHttp2Connection(socket, {
      peer: { remoteAddress: this.#room.name, remotePort },
      inbound: this.#inbound,
      outbound: this.#outbound,
      segments: this.#segments,
      answerHeaders: ANSWER_HEADERS,
      hasOneRequest: (path) => this.#calls.hasOneRequest(path),
      onGreeted: () => {
        this.#trace.greeted(peer, acceptedAt);
        place?.settle();
      },
      onStream: (stream, headers) => {
        const path = headers[':path'] ?? '';
        this.#turns.name(clientLabel(path));
        const trace = parseTraceparent(headers['traceparent']);
        this.#trace.called(peer, stream, path, trace);
        const sinceMs = performance.now();
        const isTaken = this.#clientCalls.begin(client);
        stream.once('close', () => {
          if (this.#events.isCounted) this.#tellCall(stream, path, sinceMs, trace);
          if (!isTaken) return;
          this.#clientCalls.ended(client);
          admitted.calls -= 1;
          place?.end();
        });
        if (!isTaken) {
          const message = `cannot take another call of this client: found ${MOST_CALLS} under way; wanted fewer`;
          stream.refuse({ status: status.RESOURCE_EXHAUSTED, message });
          return;
        }
        place?.begin();
        admitted.calls += 1;
        void this.#opened.then(() => {
          // The stream may have ended while it waited.
          if (stream.destroyed) return;
          try {
            this.#calls.serve(stream, headers);
          } catch (error) {
            failed(error);
            void connection.close();
          }
        });
      },
      onFailure: failed,
      onEnd: (reason) => {
        this.#admitted.delete(peer);
        this.#clients.delete(peer);
        disconnected.abort();
        this.#trace.ended(peer, socket, acceptedAt, reason);
        this.#tellConnection('closed');
        if (ORDINARY_ENDS.has(reason)) return;
        this.#faults.add(`${reason} ${client.key}`, { peer, client: client.description, reason });
      },
    });
    socket.prependListener('data', (octets: Buffer) => this.#read(octets.length));
    this.#turns.watch(socket, { client, what: 'gRPC' });
    this.#served.add(connection);
    void connection.closed.then(() => this.#served.delete(connection));
  }

  /** Connections that are open. */
  get size(): number {
    return this.#served.size;
  }

  /** Those that are open, the oldest first. */
  list(): readonly OpenConnection[] {
    return [...this.#admitted].map(([name, { client, openedAtMs, socket, calls }]) => ({
      ...{ name, client: client.description, openedAt: new Date(openedAtMs), calls },
      ...{ receivedBytes: socket.bytesRead, sentBytes: socket.bytesWritten },
    }));
  }

  /** Takes no more calls; those under way have `graceMs` to end, then they are cut. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await Promise.all([...this.#served].map((connection) => connection.close({ graceMs })));
    this.#faults[Symbol.dispose]();
  }

  /** The client that made a call, as the system knows it. */
  clientOf(caller: Caller): ClientIdentity {
    return this.#clients.get(caller.getPeer()) ?? EVERYBODY;
  }

  /** Who made a call. What is started for a connection that has gone ends at once. */
  ownerOf(caller: Caller): ProcessOwner {
    const id = caller.getPeer();
    const client = this.clientOf(caller);
    const { key, description, names, isAdministrator, isEverybody } = client;
    const hasQuota = !isAdministrator && !isEverybody;
    const [said] = caller.metadata.get(CLIENT_NAME_METADATA_KEY);
    return {
      id,
      label: clientLabel(String(said ?? '')),
      // Clients without a quota are counted by connection.
      client: { key: hasQuota ? key : id, description: { ...description }, names },
      disconnected: this.#admitted.get(id)?.disconnected.signal ?? AbortSignal.abort(),
    };
  }

  #tellConnection(phase: 'opened' | 'closed'): void {
    const events = this.#events;
    if (events.isCounted)
      events.publish({ type: 'connection', pipe: PIPES[this.#room.name], phase });
  }

  #tellCall(
    stream: ServedStream,
    path: string,
    sinceMs: number,
    trace: TraceContext | undefined,
  ): void {
    const answered = stream.lastHeaders?.['grpc-status'];
    const code = answered === undefined ? undefined : Number(answered);
    const [method, ms] = [this.#calls.methodOf(path), performance.now() - sinceMs];
    this.#events.publish({ type: 'call', method, code, ms, trace });
  }
}
