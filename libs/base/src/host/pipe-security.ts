import type { Socket } from 'node:net';
import type { PipePath } from '../pipe-path.js';

/** Callbacks of an open endpoint. */
export interface EndpointEvents<Client = unknown> {
  /** Receives an accepted connection before anything is read from it, and the identity of its peer if known. */
  accepted(connection: Socket, client?: Client): void;
  /** Reports that one accept failed; the endpoint continues. */
  failed(error: unknown): void;
}

export interface PipeEndpoint {
  /** Stops accepting and frees the name; may wait for accepted connections to end, but does not end them. Called once. */
  close(): Promise<void>;
}

/** Opens an endpoint with access control from the start. On Windows a pipe that Node opens admits anyone, even from another machine. */
export interface PipeSecurity {
  /** Opens the endpoint exclusively, or rejects with Node's code: `EADDRINUSE`, or `EACCES` for missing rights. */
  open(path: PipePath, events: EndpointEvents): Promise<PipeEndpoint>;
}

/** Connects to a pipe and verifies its server before sending a byte: on Windows any process may have claimed the name of the pipe. */
export interface PipeServerCheck {
  /**
   * Makes one attempt to connect. After Node's `ENOENT` or `EBUSY`, another attempt may succeed.
   * `ERR_UNTRUSTED_PIPE_SERVER` means that the server of the pipe is not trusted; the message gives the reason. The
   * signal cancels the attempt; if a socket still arrives, the caller destroys it.
   */
  open(path: PipePath, signal: AbortSignal): Promise<Socket>;
}
