import type { ProcessOwner } from '@wins/process-manager';
import {
  admitHttp2Connection,
  CLIENT_NAME_METADATA_KEY,
  identifyConnection,
  peerOf,
} from '@wins/wins-api';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { limitHandshake } from './limit-handshake.js';

/** How long a client may take for the opening of HTTP/2: its preface and first frame. */
const OPENING_TIMEOUT_MS = 5000;

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

  /**
   * Prepares an accepted connection for the HTTP/2 server.
   *
   * @returns The stream to serve, or undefined when the client has gone meanwhile.
   */
  async admit(socket: Socket): Promise<Duplex | undefined> {
    this.lastId += 1;
    const id = this.lastId;
    const peer = `pipe:${id}`;
    const controller = new AbortController();
    this.disconnected.set(peer, controller);
    socket.once('close', () => {
      this.disconnected.delete(peer);
      controller.abort();
    });
    // The transport waits for a first byte; a client that stops after it must not keep its place.
    const endLimit = limitHandshake(socket, OPENING_TIMEOUT_MS);
    const stream = await admitHttp2Connection(socket);
    endLimit();
    if (stream !== undefined) identifyConnection(stream, id);
    return stream;
  }

  /** Who made a call. What is started for a connection that has gone ends at once. */
  ownerOf(caller: Caller): ProcessOwner {
    const id = peerOf(caller);
    const label = String(caller.metadata.get(CLIENT_NAME_METADATA_KEY)[0] ?? '');
    return {
      id,
      label: label.slice(0, LABEL_LENGTH),
      disconnected: this.disconnected.get(id)?.signal ?? AbortSignal.abort(),
    };
  }
}
