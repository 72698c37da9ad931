import { reporter, TransientMap } from '@wins/base';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { joinSocket } from './join-socket.js';
import { DEFAULT_TIMES } from '../stream/session-settings.js';
import { acceptError, listenError, TunnelError } from '../tunnel-error.js';
import type { Duplex } from 'node:stream';

/** Options of {@link listenTcp}. */
export interface ListenTcpOptions {
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /**
   * Returns the stream for an accepted connection, which then owns the stream. If the stream is a socket, it needs `allowHalfOpen`.
   * The connection is not read while the promise is pending. A failure resets the connection.
   */
  readonly open: (connection: PendingConnection) => Duplex | Promise<Duplex>;
  /** Maximum number of concurrent connections. Default 1,024; one more is closed at once. */
  readonly maxConnections?: number | undefined;
  /**
   * Called for both ends of a connection once they are joined, if they are to be read in turns: by `readable` events, while `mayRead` is true. A
   * `resume` event follows when it becomes true. A dialled socket then needs {@link DialTarget.isReadInTurns}. Default: data is passed on at once.
   */
  readonly watch?: ((readable: Duplex, end: WatchedEnd) => void) | undefined;
  /**
   * Called when a connection gets no stream: with the error that `open` threw, with `tooManyStreams` above
   * `maxConnections`, or with `listenFailed` when the system's accept failed. After `listenFailed` the listener retries
   * until it listens again.
   */
  readonly onRefused?: ((error: unknown) => unknown) | undefined;
}

/** One end of a joined connection. */
export interface WatchedEnd {
  /** Address of the client, for both ends. */
  readonly remoteAddress: string;
  readonly mayRead: () => boolean;
}

/** An accepted connection that has no stream yet. */
export interface PendingConnection {
  /** Address of the client; empty when the connection has ended. */
  readonly remoteAddress: string;
  /** Fires when the connection ends before it got its stream. */
  readonly signal: AbortSignal;
  /** Calls `then` when the connection has closed, which may be long after the end of its stream: its client may still read. */
  onceClosed(then: () => void): void;
}

/** A published port. The caller closes the listener. */
export interface TcpListener extends AsyncDisposable {
  readonly host: string;
  readonly port: number;
  readonly connectionCount: number;
  /** Stops accepting and waits until the open connections have ended. */
  drain(): Promise<void>;
  /** Resets the open connections and waits until everything is closed. Idempotent. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 30_000;
const SOCKET_BUFFER_BYTES = 128 * 1024;
/** Retry delay in milliseconds, long enough not to busy-loop while the system has no descriptors. */
const LISTEN_AGAIN_MS = 100;

/**
 * Listens on a TCP port and carries each accepted connection through a stream of its own, which `options.open` supplies.
 * The listener does not close when a tunnel ends. If `open` waits for the next tunnel, new clients stay connected meanwhile.
 *
 * @throws {TunnelError} `addressInUse`, `addressDenied`, `listenFailed`.
 */
export async function listenTcp(options: ListenTcpOptions): Promise<TcpListener> {
  const listener = new PublishedPort(options);
  await listener.listen();
  return listener;
}

class PublishedPort implements TcpListener {
  port: number;
  readonly #options: ListenTcpOptions;
  readonly #sockets = new TransientMap<number, Socket>();
  #accepted = 0;
  readonly #maxConnections: number;
  #server: Server | undefined;
  #closed: Promise<void> | undefined;
  #again: NodeJS.Timeout | undefined;
  #listening: Promise<void> | undefined;
  #stopping = false;

  constructor(options: ListenTcpOptions) {
    this.#options = { ...options, onRefused: reporter(options.onRefused) };
    this.port = options.port;
    this.#maxConnections = options.maxConnections ?? 1024;
  }

  get host(): string {
    return this.#options.host;
  }

  get connectionCount(): number {
    return this.#sockets.size;
  }

  async listen(): Promise<void> {
    const { host, port } = this;
    const server = createServer(
      {
        allowHalfOpen: true,
        noDelay: true,
        keepAlive: true,
        keepAliveInitialDelay: KEEP_ALIVE_MS,
        highWaterMark: SOCKET_BUFFER_BYTES,
      },
      (socket) => this.#accept(socket),
    );
    await new Promise<void>((resolve, reject) => {
      server.once('error', (cause) => reject(listenError({ host, port, protocol: 'tcp' }, cause)));
      server.listen({ host, port }, resolve);
    });
    this.#server = server;
    this.#closed = new Promise((resolve) => server.once('close', resolve));
    this.port = (server.address() as AddressInfo).port;
    server.removeAllListeners('error').on('error', (cause) => {
      // Listen anew: after a failure, Windows accepts no more connections, and other systems would fail again at once.
      if (!server.listening) return;
      server.close();
      this.#listenAgain(acceptError(host, this.port, cause));
    });
  }

  async drain(): Promise<void> {
    this.#stopping = true;
    clearTimeout(this.#again);
    await this.#listening;
    if (this.#server?.listening === true) this.#server.close();
    await this.#closed;
    // Also wait for connections that an earlier server accepted before it failed.
    await Promise.all(
      [...this.#sockets.values()].map(
        (socket) => new Promise((resolve) => socket.once('close', resolve)),
      ),
    );
  }

  close(): Promise<void> {
    for (const socket of [...this.#sockets.values()]) socket.resetAndDestroy();
    return this.drain();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #listenAgain(error: unknown): void {
    this.#options.onRefused?.(error);
    if (this.#stopping) return;
    this.#again = setTimeout(() => {
      this.#listening = this.listen().catch((next: unknown) => this.#listenAgain(next));
    }, LISTEN_AGAIN_MS);
  }

  #accept(socket: Socket): void {
    const { port } = this;
    if (this.#stopping) {
      socket.on('error', () => undefined).resetAndDestroy();
      return;
    }
    if (this.#sockets.size >= this.#maxConnections) {
      socket.on('error', () => undefined).destroy();
      const message = `cannot accept on port ${port}: found ${this.#sockets.size} connections; wanted fewer than ${this.#maxConnections}`;
      this.#options.onRefused?.(new TunnelError('tooManyStreams', message, { port }));
      return;
    }
    const number = (this.#accepted += 1);
    this.#sockets.set(number, socket);
    socket.once('close', () => this.#sockets.delete(number));
    accept(socket, this.#options);
  }
}

/**
 * Written as a class, because an object literal with getters costs memory. V8 would create a separate internal type ("hidden
 * class") for each connection's object, and each such type would keep the connection's socket in the old generation.
 */
class AcceptedConnection implements PendingConnection {
  readonly #socket: Socket;
  #gone: AbortController | undefined;

  constructor(socket: Socket) {
    this.#socket = socket;
  }

  get remoteAddress(): string {
    return this.#socket.remoteAddress ?? '';
  }

  get signal(): AbortSignal {
    if (this.#gone === undefined) {
      this.#gone = new AbortController();
      this.#socket.once('close', () => this.#gone?.abort());
    }
    return this.#gone.signal;
  }

  onceClosed(then: () => void): void {
    this.#socket.once('close', then);
  }

  /** Stops the signal from firing. */
  settled(): void {
    this.#gone = undefined;
  }
}

function accept(socket: Socket, options: ListenTcpOptions): void {
  const connection = new AcceptedConnection(socket);
  const ignore = (): void => undefined;
  socket.on('error', ignore);
  const join = (stream: Duplex): void => {
    connection.settled();
    if (socket.destroyed) stream.on('error', ignore).destroy();
    else {
      const { watch } = options;
      const { remoteAddress } = connection;
      joinSocket(
        socket,
        stream,
        DEFAULT_TIMES.lingerMs,
        watch && ((readable, mayRead) => watch(readable, { remoteAddress, mayRead })),
      );
    }
  };
  const refuse = (error: unknown): void => {
    connection.settled();
    socket.resetAndDestroy();
    options.onRefused?.(error);
  };
  try {
    const opened = options.open(connection);
    if ('then' in opened) opened.then(join, refuse);
    else join(opened);
  } catch (error) {
    refuse(error);
  }
}
