import type { ProcessOwner } from '@wins/process-manager';
import { admitHttp2Connection, identifyConnection } from '@wins/wins-api';
import type { Duplex } from 'node:stream';
import type { Socket } from 'node:net';

/** Longest text of a client about itself that is kept. */
const LABEL_LENGTH = 128;

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
  private lastId = 0;

  constructor(private readonly pipeName: string) {}

  /**
   * Prepares an accepted connection for the HTTP/2 server.
   *
   * @returns The stream to serve, or undefined when the client has gone meanwhile.
   */
  async admit(socket: Socket): Promise<Duplex | undefined> {
    this.lastId += 1;
    const id = this.lastId;
    const controller = new AbortController();
    this.disconnected.set(peerOf(id), controller);
    socket.once('close', () => {
      this.disconnected.delete(peerOf(id));
      controller.abort();
    });
    const stream = await admitHttp2Connection(socket, { pipeName: this.pipeName });
    if (stream !== undefined) identifyConnection(stream, id);
    return stream;
  }

  /** Who made a call. A connection that has gone owns what it started for no moment longer. */
  ownerOf(caller: Caller): ProcessOwner {
    const id = caller.getPeer();
    const label = String(caller.metadata.get('wins-client')[0] ?? '').slice(0, LABEL_LENGTH);
    const disconnected = this.disconnected.get(id)?.signal ?? AbortSignal.abort();
    return { id, label, disconnected };
  }
}

function peerOf(id: number): string {
  return `pipe:${id}`;
}
