import {
  EVERYBODY,
  reporter,
  type ClientIdentity,
  type EndpointEvents,
  type IdentifyClient,
  type PipeEndpoint,
  type PipeSecurity,
} from '@wins/base';
import { ConnectionSet } from './connection-set.js';
import type { Socket } from 'node:net';
import { abortedError, describePipeError, pipeErrorFrom } from './node-errors.js';
import { type PipeError, wholeNumber } from './pipe-error.js';
import { resolvePipePath, type PipePath } from './pipe-path.js';
import { requirePrivateDirectory } from './private-directory.js';
import { openUnixSocket } from './unix-socket-endpoint.js';

/** Options of {@link listenPipe}. */
export interface ListenPipeOptions {
  /**
   * Receives each connection without waiting for data from its peer, so that the server may send first. A connection
   * that nobody reads still counts towards the maximum. If the receiver throws, or its promise rejects, the connection is
   * closed and `onError` is called.
   */
  readonly onConnection: (connection: Socket, client: ClientIdentity) => unknown;
  /**
   * Identifies the client before anything is read: `linuxClients()` of `@wins/linux-host`, `windowsClients(security)`
   * of `@wins/windows-host`. Default: all clients are alike, and none is an administrator.
   */
  readonly identify?: IdentifyClient | undefined;
  /** Maximum number of open connections; further ones are closed at once. Default 1024. */
  readonly maxConnections?: number | undefined;
  /** Time in milliseconds after which a connection without a byte from its peer is closed. Default 5000. */
  readonly handshakeTimeoutMs?: number | undefined;
  /**
   * Access control of the pipe: an object that opens the endpoint, such as `securedPipe()` of `@wins/windows-host`.
   * Required on Windows. Elsewhere, the default endpoint is a Unix socket of mode 0600.
   */
  readonly security?: PipeSecurity | undefined;
  /**
   * Called for failures that do not end the listener: a failed accept, a client beyond the limit (`busy`), a receiver that failed. A hostile
   * client can cause many of them. Default: ignored.
   */
  readonly onError?: ((error: PipeError) => unknown) | undefined;
  /** Directory for bare names on POSIX, created with mode 0700 if missing. Default: `runtimeDirectory()` of `@wins/base`. */
  readonly runtimeDir?: string | undefined;
  /** Platform whose name rules apply. Default: `process.platform`. */
  readonly platform?: NodeJS.Platform | undefined;
  /** Cancels opening. Has no effect once the listener exists. */
  readonly signal?: AbortSignal | undefined;
}

/**
 * Listens on a pipe exclusively and with access control, or rejects.
 *
 * Replaces a socket file that a dead process left, but never a socket in use or another kind of file. The caller closes
 * the listener, which ends all accepted connections.
 *
 * @param name see {@link resolvePipePath}.
 * @throws {@link PipeError} `inUse` when the name is in use; `securityUnavailable` when other users could tamper with
 * the socket, or on Windows without `security`; `notFound` when the directory (for a bare name: its parent) is
 * missing; `accessDenied`; `invalidName`; `aborted` by `signal`; `unknown`. RangeError for a limit that is not
 * a whole number.
 */
export async function listenPipe(name: string, options: ListenPipeOptions): Promise<PipeListener> {
  const path = resolvePipePath(name, options);
  const { identify = () => EVERYBODY } = options;
  const onError = reporter(options.onError);
  const connections = new ConnectionSet({
    path,
    maxConnections: wholeNumber('maxConnections', options.maxConnections ?? 1024, 1),
    handshakeTimeoutMs: wholeNumber('handshakeTimeoutMs', options.handshakeTimeoutMs ?? 5000, 1),
    onConnection: (connection) => options.onConnection(connection, identify(connection)),
    onError,
  });
  const { signal } = options;
  if (signal?.aborted) throw abortedError('listen on', path, signal);
  const endpoint = await openEndpoint(path, options.security, {
    accepted: (connection) => connections.add(connection),
    failed: (error) => onError(pipeErrorFrom(error, 'accept on', path)),
  });
  const listener = createListener(path, endpoint, connections);
  if (!signal?.aborted) return listener;
  await listener.close();
  throw abortedError('listen on', path, signal);
}

async function openEndpoint(
  path: PipePath,
  security: PipeSecurity | undefined,
  events: EndpointEvents,
): Promise<PipeEndpoint> {
  try {
    if (security !== undefined) return await security.open(path, events);
    if (path.kind === 'named-pipe') {
      const found =
        'the option "security", which restricts access, is missing: pass securedPipe() of @wins/windows-host';
      throw describePipeError('securityUnavailable', 'listen on', path, found);
    }
    // Never create the directory of a socket path that the caller gave.
    await requirePrivateDirectory(path, path.name !== path.address);
    return await openUnixSocket(path, events);
  } catch (error) {
    throw pipeErrorFrom(error, 'listen on', path);
  }
}

function createListener(
  path: PipePath,
  endpoint: PipeEndpoint,
  connections: ConnectionSet,
): PipeListener {
  let closing: Promise<void> | undefined;
  return {
    path,
    get connectionCount() {
      return connections.size;
    },
    async close({ graceMs = 0 }: ClosePipeListenerOptions = {}) {
      wholeNumber('graceMs', graceMs, 0);
      closing ??= closeBoth(endpoint, connections, graceMs, path);
      await closing;
    },
    [Symbol.asyncDispose]() {
      return this.close();
    },
  };
}

async function closeBoth(
  endpoint: PipeEndpoint,
  connections: ConnectionSet,
  graceMs: number,
  path: PipePath,
): Promise<void> {
  // Close both at the same time, because some endpoints do not close while a connection is open.
  const ends = await Promise.allSettled([endpoint.close(), connections.end(graceMs)]);
  for (const end of ends)
    if (end.status === 'rejected') throw pipeErrorFrom(end.reason, 'use', path);
}

/** Options of {@link PipeListener.close}. */
export interface ClosePipeListenerOptions {
  /** Time in milliseconds for open connections to end. Default 0: they are destroyed at once. */
  readonly graceMs?: number | undefined;
}

/** A served pipe. It accepts connections until the caller closes it. */
export interface PipeListener extends AsyncDisposable {
  /** The name, resolved to the address that clients connect to. */
  readonly path: PipePath;
  /** Number of accepted connections that have not ended. */
  readonly connectionCount: number;
  /**
   * Frees the name, and resolves when every accepted connection has ended. Later calls wait for the first one; their
   * options are ignored.
   *
   * @throws PipeError when the name could not be removed; everything is closed nevertheless.
   */
  close(options?: ClosePipeListenerOptions): Promise<void>;
}
