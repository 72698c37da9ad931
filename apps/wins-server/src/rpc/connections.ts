import { status } from '@grpc/grpc-js';
import {
  OctetBudget,
  SegmentPool,
  serveHttp2Connection,
  type Http2Connection,
} from '@wins/http2-connection';
import type { ProcessOwner } from '@wins/process-manager';
import { CLIENT_NAME_METADATA_KEY } from '@wins/wins-api';
import type { Socket } from 'node:net';
import { ClientCalls } from '../admission/client-calls.js';
import { EVERYBODY, type ClientIdentity } from '../admission/client-identity.js';
import { ClientTurns } from '../admission/client-turns.js';
import type { Place } from '../admission/places.js';
import { ANSWER_HEADERS, type CallServer } from './call-server.js';
import { EndedConnections } from './ended-connections.js';
import type { Logger } from '../log/logger.js';
import { ownWords } from './own-words.js';

const MIB = 1024 * 1024;
/** What unfinished requests of all clients may take. */
const INBOUND_OCTETS = 64 * MIB;
/** What may wait for all clients that do not read. */
const OUTBOUND_OCTETS = 128 * MIB;

/** What of a gRPC call says who made it. */
export interface Caller {
  getPeer(): string;
  readonly metadata: { get(key: string): readonly (string | Buffer)[] };
}

/**
 * The connections of the gRPC pipe. Each has an identity, `pipe:N`, to which processes belong: a
 * name can be guessed, a connection cannot.
 */
export class Connections {
  private readonly disconnected = new Map<string, AbortController>();
  private readonly served = new Set<Http2Connection>();
  private readonly inbound = new OctetBudget(INBOUND_OCTETS);
  private readonly outbound = new OctetBudget(OUTBOUND_OCTETS);
  private readonly segments = new SegmentPool();
  private readonly clientCalls = new ClientCalls();
  private readonly endedConnections: EndedConnections;
  private lastId = 0;
  private isClosing = false;

  /**
   * @param opened - Calls that come before it resolves wait for it.
   * @param clients - Whose each connection is, by its name; it is in there as long as it is open.
   * @param turns - Measures what each connection costs. The owner disposes of it.
   * @param read - Told how many octets each read brought, before they are looked at.
   */
  constructor(
    private readonly calls: CallServer,
    private readonly opened: Promise<void>,
    private readonly logger: Logger,
    private readonly clients = new Map<string, ClientIdentity>(),
    private readonly turns = new ClientTurns(),
    private readonly read: (octets: number) => void = () => undefined,
  ) {
    this.endedConnections = new EndedConnections(logger);
  }

  /** Serves an accepted connection until it ends. */
  admit(socket: Socket, client: ClientIdentity = EVERYBODY, place?: Place): void {
    if (this.isClosing) {
      socket.destroy();
      return;
    }
    this.lastId += 1;
    const remotePort = this.lastId;
    const peer = `pipe:${remotePort}`;
    const disconnected = new AbortController();
    this.disconnected.set(peer, disconnected);
    this.clients.set(peer, client);
    const failed = (err: unknown): void =>
      this.logger.error(
        { err, peer },
        'a call failed in a way that no call may: its connection ends',
      );
    const connection = serveHttp2Connection(socket, {
      peer: { remoteAddress: 'pipe', remotePort },
      inbound: this.inbound,
      outbound: this.outbound,
      segments: this.segments,
      answerHeaders: ANSWER_HEADERS,
      hasOneRequest: (path) => this.calls.hasOneRequest(path),
      onGreeted: () => place?.settle(),
      onStream: (stream, headers) => {
        this.turns.name(ownWords(headers[':path'] ?? ''));
        if (!this.clientCalls.begin(client)) {
          const message = 'this client has as many calls under way as one may have; wanted fewer';
          stream.refuse({ status: status.RESOURCE_EXHAUSTED, message });
          return;
        }
        place?.begin();
        stream.once('close', () => {
          this.clientCalls.ended(client);
          place?.end();
        });
        void this.opened.then(() => {
          // What is gone meanwhile is shown to nobody.
          if (stream.destroyed) return;
          try {
            this.calls.serve(stream, headers);
          } catch (error) {
            failed(error);
            void connection.close();
          }
        });
      },
      onFailure: failed,
      onEnd: (reason) => {
        this.disconnected.delete(peer);
        this.clients.delete(peer);
        disconnected.abort();
        this.endedConnections.ended(peer, reason);
      },
    });
    socket.prependListener('data', (octets: Buffer) => this.read(octets.length));
    this.turns.watch(socket, { client, what: 'gRPC' });
    this.served.add(connection);
    void connection.closed.then(() => this.served.delete(connection));
  }

  /** Takes no more calls; those under way have `graceMs` to end, then they are cut. */
  async close(graceMs: number): Promise<void> {
    this.isClosing = true;
    await Promise.all([...this.served].map((connection) => connection.close({ graceMs })));
    this.endedConnections[Symbol.dispose]();
  }

  /** Who made a call. What is started for a connection that has gone ends at once. */
  ownerOf(caller: Caller): ProcessOwner {
    const id = caller.getPeer();
    const client = this.clients.get(id) ?? EVERYBODY;
    const { key, description, names, isAdministrator, isEverybody } = client;
    const hasQuota = !isAdministrator && !isEverybody;
    const [said] = caller.metadata.get(CLIENT_NAME_METADATA_KEY);
    return {
      id,
      label: ownWords(String(said ?? '')),
      // Who has no quota is counted by connection.
      client: { key: hasQuota ? key : id, description: { ...description }, names },
      disconnected: this.disconnected.get(id)?.signal ?? AbortSignal.abort(),
    };
  }
}
