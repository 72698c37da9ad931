/**
 * Bytes over a local endpoint: a named pipe on Windows, a Unix socket elsewhere.
 *
 * Owns the names and addresses of pipes, access to them, exclusive ownership by one server process, the
 * maximum number of clients, and how long a client waits. It provides plain sockets and reads nothing from
 * them; the protocol is the caller's.
 *
 * ```ts
 * const listener = await listenPipe('greeter', {
 *   onConnection: (connection) => connection.end('hello\n'),
 * });
 * const connection = await connectPipe('greeter', { waitTimeoutMs: 1000 });
 * for await (const chunk of connection) process.stdout.write(chunk);
 * await listener.close();
 * ```
 *
 * @packageDocumentation
 */
export { connectPipe, type ConnectPipeOptions } from './connect-pipe.js';
export {
  listenPipe,
  type ListenPipeOptions,
  type ClosePipeListenerOptions,
  type PipeListener,
} from './listen-pipe.js';
export { PipeError, type PipeErrorCode, type PipeErrorDetail } from './pipe-error.js';
export { resolvePipePath, type PipePath, type ResolvePipePathOptions } from './pipe-path.js';
