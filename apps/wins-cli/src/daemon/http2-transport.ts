import { openGrpcConnection, type GrpcConnection } from '@wins/http2-connection';
import { messageOf } from '@wins/wins-program';
import {
  WINS_CLIENT_WINDOW_BYTES,
  type UnaryOutcome,
  type UnaryRequest,
  type UnaryTransport,
} from '@wins/wins-api/unary';
import type { Socket } from 'node:net';

/** Why a connection took no call, in words for people. */
const REASONS: Readonly<Partial<Record<string, string>>> = {
  notHttp2: 'what serves it does not speak HTTP/2',
  serverGone: 'what serves it hung up before it spoke HTTP/2',
  goaway: 'the daemon takes no more calls on it',
  refused: 'the daemon refused the call',
};

/** Opens a connection to the daemon, and gives up when the signal is aborted. */
export type OpenSocket = (signal: AbortSignal) => Promise<Socket>;

/** Carries calls with one answer over HTTP/2 of our own: that of Node takes most of the time of a command that makes one call. */
export class Http2Transport implements UnaryTransport {
  readonly #open: OpenSocket;
  readonly #closing = new AbortController();
  #connection: GrpcConnection | undefined;
  #opening: Promise<GrpcConnection> | undefined;
  #connected: (() => void)[] = [];

  constructor(open: OpenSocket) {
    this.#open = open;
  }

  isConnected(): boolean {
    return this.#connection?.isReady === true;
  }

  onConnected(tell: () => void): void {
    if (this.isConnected()) tell();
    else this.#connected.push(tell);
  }

  call(request: UnaryRequest, done: (outcome: UnaryOutcome) => void): () => void {
    let end: ((outcome: UnaryOutcome) => void) | undefined = (outcome) => {
      end = undefined;
      done(wordsFor(outcome));
    };
    let cancel = (): void => end?.({ kind: 'lost', reason: 'cancelled' });
    this.#connect().then(
      (connection) => {
        if (end !== undefined) cancel = connection.call(request, end);
      },
      (cause: unknown) => end?.({ kind: 'notTaken', reason: messageOf(cause), cause }),
    );
    return () => cancel();
  }

  async close(graceMs: number): Promise<void> {
    this.#closing.abort(new Error('the client was closed'));
    const connection = await this.#opening?.catch(() => undefined);
    await connection?.close({ graceMs });
  }

  #connect(): Promise<GrpcConnection> {
    if (this.#connection?.isOpen === false) this.#opening = undefined;
    this.#opening ??= this.#dial().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  async #dial(): Promise<GrpcConnection> {
    const { signal } = this.#closing;
    signal.throwIfAborted();
    const socket = await this.#open(signal);
    const connection = openGrpcConnection(socket, { windowOctets: WINS_CLIENT_WINDOW_BYTES });
    this.#connection = connection;
    void connection.ready.then((reason) => {
      if (reason !== undefined) return;
      for (const tell of this.#connected.splice(0)) tell();
    });
    return connection;
  }
}

function wordsFor(outcome: UnaryOutcome): UnaryOutcome {
  if (outcome.kind !== 'notTaken') return outcome;
  return { ...outcome, reason: REASONS[outcome.reason] ?? outcome.reason };
}
