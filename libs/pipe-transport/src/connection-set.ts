import type { Socket } from 'node:net';
import { FirstByteDeadlines } from './first-byte-deadlines.js';
import { describePipeError, pipeErrorFrom } from './node-errors.js';
import type { PipeError } from './pipe-error.js';
import type { PipePath } from './pipe-path.js';

export interface ConnectionSetOptions {
  readonly path: PipePath;
  readonly maxConnections: number;
  readonly handshakeTimeoutMs: number;
  readonly onConnection: (connection: Socket) => unknown;
  readonly onError: (error: PipeError) => void;
}

/** The open connections of one listener. Enforces the maximum and the handshake deadline. */
export class ConnectionSet {
  readonly #options: ConnectionSetOptions;
  readonly #deadlines: FirstByteDeadlines;
  readonly #open = new Set<Socket>();
  #ended = false;
  #onEmpty: () => void = ignore;

  constructor(options: ConnectionSetOptions) {
    this.#options = options;
    this.#deadlines = new FirstByteDeadlines(options.handshakeTimeoutMs);
  }

  get size(): number {
    return this.#open.size;
  }

  add(connection: Socket): void {
    const { path, maxConnections, onConnection, onError } = this.#options;
    // Without this listener, a peer that resets its connection could end the process.
    connection.on('error', ignore);
    if (this.#ended || this.#open.size >= maxConnections) {
      connection.destroy();
      if (!this.#ended) {
        const found = `${maxConnections} connections are open, which is the limit`;
        onError(describePipeError('busy', 'accept on', path, found));
      }
      return;
    }
    this.#open.add(connection);
    this.#deadlines.add(connection);
    connection.once('close', () => this.#remove(connection));
    const refuse = (error: unknown): void => {
      connection.destroy();
      onError(pipeErrorFrom(error, 'accept on', path));
    };
    try {
      Promise.resolve(onConnection(connection)).catch(refuse);
    } catch (error) {
      refuse(error);
    }
  }

  /** Gives open connections `graceMs` to end, then destroys the rest. Must be called only once. */
  async end(graceMs: number): Promise<void> {
    this.#ended = true;
    if (this.#open.size === 0) return;
    const empty = new Promise<void>((resolve) => (this.#onEmpty = resolve));
    const timer = graceMs > 0 ? setTimeout(() => this.#destroyAll(), graceMs) : undefined;
    if (timer === undefined) this.#destroyAll();
    await empty;
    clearTimeout(timer);
  }

  #destroyAll(): void {
    for (const connection of this.#open) connection.destroy();
  }

  #remove(connection: Socket): void {
    this.#open.delete(connection);
    this.#deadlines.remove(connection);
    if (this.#open.size === 0) this.#onEmpty();
  }
}

function ignore(): void {
  // The 'close' event that follows removes the connection.
}
