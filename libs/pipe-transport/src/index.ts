/**
 * Bytes over a local endpoint: a named pipe on Windows, a Unix socket elsewhere.
 *
 * Owns the names and addresses of pipes, who may open them, that one process alone serves one, how many
 * clients it takes, and how a client waits for it. What the bytes mean is the business of others: it
 * hands out plain sockets and reads nothing from them.
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
