import type { Socket } from 'node:net';
import type { PipePath } from '../pipe-path.js';

/** Where an open endpoint reports to. */
export interface EndpointEvents<Client = unknown> {
  /**
   * Takes over one accepted connection, a socket with a native handle from which nothing was read. `client` is who opened it, where
   * the endpoint can tell.
   */
  accepted(connection: Socket, client?: Client): void;
  /** Learns that one accept failed; the endpoint goes on. */
  failed(error: unknown): void;
}

/** An endpoint that accepts connections. */
export interface PipeEndpoint {
  /**
   * Stops accepting, frees the name and resolves when the endpoint holds nothing any more; it may
   * wait for accepted connections, whose end is not its business. Called once.
   */
  close(): Promise<void>;
}

/**
 * The port that opens an endpoint which is protected from its first instant.
 *
 * On Windows it is required: a plain pipe can be opened by everyone on the host, and by remote ones.
 */
export interface PipeSecurity {
  /**
   * Opens the endpoint, alone: a name that is taken is an error with Node's code `EADDRINUSE`, a
   * lack of rights `EACCES`. Nothing is left behind when it rejects.
   */
  open(path: PipePath, events: EndpointEvents): Promise<PipeEndpoint>;
}

/**
 * The port that opens connections and knows who answers before a byte is sent.
 *
 * On Windows the first process to claim the name of a pipe may have it.
 */
export interface PipeServerCheck {
  /**
   * Makes one attempt to connect. Of its errors, Node's codes `ENOENT` and `EBUSY` say that another attempt may succeed, and
   * `ERR_UNTRUSTED_PIPE_SERVER` that the server of the pipe is not trusted; its message then says why.
   *
   * @param signal gives up; a socket that comes nevertheless is destroyed by the caller.
   */
  open(path: PipePath, signal: AbortSignal): Promise<Socket>;
}
