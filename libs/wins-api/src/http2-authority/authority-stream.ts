import { Duplex } from 'node:stream';
import type { Socket } from 'node:net';
import type { AuthorityRewriter } from './create-authority-rewriter.js';

/**
 * A socket whose incoming octets go through a rewriter; outgoing ones are untouched. Owns the socket: destroying either
 * destroys both, and each half ends with its counterpart.
 */
export class AuthorityStream extends Duplex {
  /** Whether the reader can take more. */
  private wanted = false;

  constructor(
    private readonly socket: Socket,
    private readonly rewriter: AuthorityRewriter,
  ) {
    super({ allowHalfOpen: true });
    // The HTTP/2 session reports errors; before it has taken the stream, one must not end the process.
    this.on('error', () => undefined);
    socket.on('readable', () => this.pump());
    socket.on('end', () => {
      for (const piece of rewriter.end()) this.push(piece);
      this.push(null);
    });
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.wanted = true;
    this.pump();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void) {
    this.socket.write(chunk, done);
  }

  override _writev(
    chunks: { chunk: Buffer; encoding: BufferEncoding }[],
    done: (error?: Error | null) => void,
  ): void {
    this.socket.cork();
    chunks.forEach(({ chunk }, index) => {
      this.socket.write(chunk, index === chunks.length - 1 ? done : undefined);
    });
    this.socket.uncork();
  }

  override _final(done: (error?: Error | null) => void): void {
    this.socket.end(done);
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.socket.destroy();
    done(error);
  }

  /** Moves octets inwards until the reader has enough or the socket has no more. */
  private pump(): void {
    while (this.wanted) {
      const chunk = this.socket.read() as Buffer | null;
      if (chunk === null) return;
      for (const piece of this.rewriter.push(chunk)) this.wanted = this.push(piece);
    }
  }
}
