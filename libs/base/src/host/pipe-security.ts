import type { Socket } from 'node:net';
import type { PipePath } from '../pipe-path.js';

/** Callbacks of an endpoint that {@link PipeSecurity.open} opened. */
export interface EndpointEvents<Client = unknown> {
  /** Receives each connection before anything reads from it. `client` is the identity of the peer, if known. */
  accepted(connection: Socket, client?: Client): void;
  /** Reports a failed accept; the endpoint continues. */
  failed(error: unknown): void;
}

/** An open pipe that accepts connections until it is closed. */
export interface PipeEndpoint extends AsyncDisposable {
  /** Stops accepting and frees the name. May wait for accepted connections, but does not end them. Called once. */
  close(): Promise<void>;
}

/** Opens pipes that have access control before the first connection. A pipe that Node opens on Windows admits anyone, even from another machine. */
export interface PipeSecurity {
  /** Rejects with Node's code: `EADDRINUSE` when another process has the name, `EACCES` for missing rights. */
  open(path: PipePath, events: EndpointEvents): Promise<PipeEndpoint>;
}

/** Connects to a pipe and checks its server before sending a byte, because on Windows any process may have claimed the name. */
export interface PipeServerCheck {
  /**
   * Makes one attempt. After Node's `ENOENT` or `EBUSY`, another attempt may succeed. `ERR_UNTRUSTED_PIPE_SERVER` means that
   * the server is not trusted; the message says why. If the signal aborts and a socket still arrives, the caller destroys it.
   */
  open(path: PipePath, options: { readonly signal: AbortSignal }): Promise<Socket>;
}
