import { Server, type ServerOptions } from '@grpc/grpc-js';
import type { ServerHttp2Stream } from 'node:http2';

type StreamHandler = (
  this: Server,
  interceptors: unknown,
  stream: ServerHttp2Stream,
  headers: unknown,
) => void;

/**
 * A gRPC server that survives clients that reset a stream as soon as they have opened it.
 *
 * grpc-js refuses a bad content type or an unknown method with a response, without a look at whether
 * the stream still is; on one that was reset, that throws out of an event handler and ends the
 * process. Such streams are not shown to it.
 *
 * @throws Error when grpc-js no longer has the method that is guarded here.
 */
export function createGuardedServer(options: ServerOptions): Server {
  // The diagnostics of grpc-js bring a handler of their own, which would not be guarded.
  const server = new Server({ ...options, 'grpc.enable_channelz': 0 });
  const inside = server as unknown as { _streamHandler?: StreamHandler };
  const handle = inside._streamHandler;
  if (handle === undefined) throw new Error('grpc-js has no _streamHandler to guard');
  inside._streamHandler = function (interceptors, stream, headers) {
    // A reset is an error of the stream, also for one that nobody looks at any more.
    stream.on('error', () => undefined);
    if (!stream.destroyed && !stream.closed) handle.call(this, interceptors, stream, headers);
  };
  return server;
}
