import type { Socket } from 'node:net';
import type { PipePath } from '../pipe-path.js';

/** Callbacks of an open endpoint. */
export interface EndpointEvents<Client = unknown> {
  /**
   * Receives an accepted connection: a socket with a native handle, from which nothing was read. `client` identifies the peer where the
   * endpoint can.
   */
  accepted(connection: Socket, client?: Client): void;
  /** Reports that one accept failed; the endpoint continues. */
  failed(error: unknown): void;
}

/** An endpoint that accepts connections. */
export interface PipeEndpoint {
  /**
   * Stops accepting and frees the name. Resolves when the endpoint holds no resources; it may wait for accepted connections to end, but
   * does not end them. Called once.
   */
  close(): Promise<void>;
}

/**
 * The port that opens an endpoint with access control from the start.
 *
 * Required on Windows, where everyone on the host, and remote clients, could open a plain pipe.
 */
export interface PipeSecurity {
  /**
   * Opens the endpoint exclusively: a name in use is an error with Node's code `EADDRINUSE`, missing rights `EACCES`. A rejected call
   * leaves nothing behind.
   */
  open(path: PipePath, events: EndpointEvents): Promise<PipeEndpoint>;
}

/**
 * The port that connects to a pipe and verifies its server before sending a byte.
 *
 * On Windows any process may claim the name of a pipe first.
 */
export interface PipeServerCheck {
  /**
   * Makes one attempt to connect. Node's codes `ENOENT` and `EBUSY` mean that another attempt may succeed. `ERR_UNTRUSTED_PIPE_SERVER`
   * means that the server of the pipe is not trusted; its message gives the reason.
   *
   * @param signal - Cancels the attempt; the caller destroys a socket that is delivered nevertheless.
   */
  open(path: PipePath, signal: AbortSignal): Promise<Socket>;
}
