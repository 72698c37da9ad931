import { CallCredentials, ChannelCredentials } from '@grpc/grpc-js';
import type { Socket } from 'node:net';

type SecureConnector = ReturnType<ChannelCredentials['_createSecureConnector']>;

/**
 * Judges the connected socket before a byte is sent, and resolves with the one to use: this one, or another to the same
 * daemon, opened in a way that can be judged; then this one is closed. Rejects when the other side is not who it should be.
 */
export type VerifyServer = (socket: Socket) => Promise<Socket>;

/**
 * Credentials of a channel without TLS whose connections are shown to `verifyServer` first. grpc-js opens the socket and waits
 * for this before it speaks HTTP/2. Keeps account of the open sockets, for `close`.
 */
export class VerifiedCredentials extends ChannelCredentials {
  /** Why a connection was not accepted, the latest such reason; undefined once one was accepted. */
  verifyFailure: unknown;

  private readonly sockets = new Set<Socket>();

  constructor(private readonly verifyServer: VerifyServer | undefined) {
    super();
  }

  override _isSecure(): boolean {
    return false;
  }

  override _equals(other: ChannelCredentials): boolean {
    return this === other;
  }

  override _createSecureConnector(): SecureConnector {
    const callCredentials = CallCredentials.createEmpty();
    return {
      connect: (socket) => this.accept(socket),
      waitForReady: () => Promise.resolve(),
      getCallCredentials: () => callCredentials,
      destroy: () => undefined,
    };
  }

  /** Destroys the sockets that have not closed by themselves within `graceMs`, and resolves when all have. */
  async close(graceMs: number): Promise<void> {
    const timer = setTimeout(() => {
      for (const socket of this.sockets) socket.destroy();
    }, graceMs);
    await Promise.all(
      [...this.sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
    );
    clearTimeout(timer);
  }

  private async accept(socket: Socket): Promise<{ socket: Socket; secure: boolean }> {
    this.own(socket);
    let chosen: Socket;
    try {
      chosen = (await this.verifyServer?.(socket)) ?? socket;
      this.verifyFailure = undefined;
    } catch (error) {
      this.verifyFailure = error;
      throw error;
    }
    if (chosen !== socket) {
      this.own(chosen);
      socket.destroy();
    }
    return { socket: chosen, secure: false };
  }

  private own(socket: Socket): void {
    this.sockets.add(socket);
    socket.once('close', () => this.sockets.delete(socket));
    // While it is judged nobody else listens, and an error without listener would end the process.
    socket.on('error', () => undefined);
  }
}
