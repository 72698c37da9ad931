import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { joinSocket } from './join-socket.js';
import { listenError } from './node-errors.js';
import type { TunnelChannel } from './tunnel-channel.js';

/** Options of a published port. */
export interface ListenTcpOptions {
  /** The literal address to listen on. */
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /**
   * The stream for one accepted connection, which then belongs to it. A promise holds the connection unread meanwhile. A
   * failure resets that connection.
   */
  readonly open: (connection: PendingConnection) => TunnelChannel | Promise<TunnelChannel>;
  /** Connections at a time. Default 1,024; one more is closed at once. */
  readonly maxConnections?: number;
  /** How long bytes from a client are thrown away after the tunnel ended its stream. Default 2,000. */
  readonly lingerMs?: number;
  /** A connection could not get its stream. It must not throw. */
  readonly onRefused?: (error: unknown) => void;
}

/** An accepted connection that has no stream yet. */
export interface PendingConnection {
  /** Fires when the connection ends before it got its stream. Made when it is asked for. */
  readonly signal: AbortSignal;
}

/** A published port. Whoever made it closes it. */
export interface TcpListener {
  readonly host: string;
  readonly port: number;
  readonly connectionCount: number;
  /** Accepts nothing more and waits until the open connections ended. */
  drain(): Promise<void>;
  /** Accepts nothing more, resets the open connections and waits until all is gone. Idempotent. */
  close(): Promise<void>;
}

const KEEP_ALIVE_MS = 30_000;
const SOCKET_BUFFER_BYTES = 128 * 1024;

/**
 * Listens on a TCP port and carries each accepted connection through a stream of its own. It outlives the tunnel behind
 * `open`, so that clients can be kept while that is replaced.
 *
 * @throws {TunnelError} `address-in-use`, `address-denied`, `listen-failed`.
 */
export async function listenTcp(options: ListenTcpOptions): Promise<TcpListener> {
  const sockets = new Set<Socket>();
  const server = createServer(
    {
      allowHalfOpen: true,
      noDelay: true,
      keepAlive: true,
      keepAliveInitialDelay: KEEP_ALIVE_MS,
      highWaterMark: SOCKET_BUFFER_BYTES,
    },
    (socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      accept(socket, options);
    },
  );
  server.maxConnections = options.maxConnections ?? 1024;
  await listen(server, options);
  const { address, port } = server.address() as AddressInfo;
  const stopped = new Promise<void>((resolve) => server.once('close', resolve));
  const stop = (): Promise<void> => {
    if (server.listening) server.close();
    return stopped;
  };
  return {
    host: address,
    port,
    get connectionCount() {
      return sockets.size;
    },
    drain: stop,
    close: () => {
      for (const socket of sockets) socket.resetAndDestroy();
      return stop();
    },
  };
}

function listen(server: Server, { host, port }: ListenTcpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (cause: Error): void => reject(listenError(host, port, cause));
    server.once('error', fail);
    server.listen({ host, port }, () => {
      server.off('error', fail);
      resolve();
    });
  });
}

function accept(socket: Socket, options: ListenTcpOptions): void {
  let gone: AbortController | undefined;
  const ignore = (): void => undefined;
  socket.on('error', ignore);
  const join = (channel: TunnelChannel): void => {
    gone = undefined;
    if (socket.destroyed) channel.on('error', ignore).destroy();
    else joinSocket(socket, channel, options.lingerMs ?? 2_000);
  };
  const refuse = (error: unknown): void => {
    gone = undefined;
    socket.resetAndDestroy();
    options.onRefused?.(error);
  };
  const connection: PendingConnection = {
    get signal() {
      if (gone === undefined) {
        gone = new AbortController();
        socket.once('close', () => gone?.abort());
      }
      return gone.signal;
    },
  };
  try {
    const opened = options.open(connection);
    if ('then' in opened) opened.then(join, refuse);
    else join(opened);
  } catch (error) {
    refuse(error);
  }
}
