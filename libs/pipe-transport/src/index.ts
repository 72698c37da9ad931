/**
 * Bytes over a local endpoint: a named pipe on Windows, a Unix socket elsewhere.
 *
 * One server process owns a pipe exclusively. The library controls access, limits clients, and hands out plain, unread sockets.
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
export {
  privateTransport,
  type PrivateTransport,
  type PrivateTransportOptions,
} from './private-transport.js';
export { PipeError, type PipeErrorCode, type PipeErrorDetails } from './pipe-error.js';
export { resolvePipePath, type PipePath, type ResolvePipePathOptions } from './pipe-path.js';
export type { ClientIdentity } from '@wins/base';
