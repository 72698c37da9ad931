import { CallCredentials, ChannelCredentials } from '@grpc/grpc-js';
import type { Socket } from 'node:net';

type SecureConnector = ReturnType<ChannelCredentials['_createSecureConnector']>;

/** Credentials without TLS. Tracks the open sockets, for `close`. */
export class SocketCredentials extends ChannelCredentials {
  readonly #sockets = new Set<Socket>();
  #closed = false;

  override _isSecure(): boolean {
    return false;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(): SecureConnector {
    const callCredentials = CallCredentials.createEmpty();
    return {
      connect: (socket) => this.#own(socket),
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => callCredentials,
      destroy: () => undefined,
    };
  }

  /** Destroys the sockets that have not closed within `graceMs`, and refuses new ones. */
  async close(graceMs: number): Promise<void> {
    this.#closed = true;
    const timer = setTimeout(() => {
      for (const socket of this.#sockets) socket.destroy();
    }, graceMs);
    await Promise.all(
      [...this.#sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
    clearTimeout(timer);
  }

  #own(socket: Socket): ReturnType<SecureConnector['connect']> {
    // Until HTTP/2 starts, nothing else handles errors, and an unhandled error would end the process.
    socket.on('error', () => undefined);
    // grpc-js destroys the socket when this rejects.
    if (this.#closed) return Promise.reject(new Error('the client was closed meanwhile'));
    if (!socket.closed) this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
    return Promise.resolve({ socket, secure: false });
  }
}
