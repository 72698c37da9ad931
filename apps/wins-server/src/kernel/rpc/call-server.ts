import { Server, status } from '@grpc/grpc-js';
import type { ServedStream, RequestHeaders } from '@wins/http2-connection';
import { quoteText } from '@wins/base';

/** Internals of grpc-js that are used beside its public interface: the entry for a stream that no session of Node's made. */
interface ServerInside {
  readonly handlers: ReadonlyMap<string, { readonly type: string }>;
  _streamHandler(interceptors: readonly unknown[], stream: ServedStream, headers: object): void;
}

/** Which messages of a client are taken; the only encoding. */
const IDENTITY = 'identity';
const ONE_REQUEST: ReadonlySet<string> = new Set(['unary', 'serverStream']);

declare const served: unique symbol;

/** `package.Service/Method` of a method that is served; any other is `unknown`, since clients choose the names of those. */
export type ServedMethod = 'unknown' | (string & { readonly [served]: true });

/** Other limits are those of `@wins/http2-connection`. */
const LARGEST_REQUEST_OCTETS = 1024 * 1024;

/** Routes calls to the services of `server`. */
export interface CallServer {
  readonly server: Server;
  serve(stream: ServedStream, headers: RequestHeaders): void;
  /** Whether a call by this path has one request only; one that is not served has none to wait for either. */
  hasOneRequest(path: string): boolean;
  methodOf(path: string): ServedMethod;
}

/** Set in each answer: grpc-js would promise to take compressed requests. */
export const ANSWER_HEADERS = { 'grpc-accept-encoding': IDENTITY } as const;

/**
 * A gRPC server without a listener: grpc-js finds the handler, decodes, encodes and keeps the status; the HTTP/2 is ours.
 *
 * @throws Error when grpc-js no longer has the method by which streams come in.
 */
export function createCallServer(): CallServer {
  // The diagnostics of grpc-js bring a handler of their own, which is another one.
  const server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': LARGEST_REQUEST_OCTETS,
  });
  const inside = server as unknown as Partial<ServerInside>;
  const { handlers } = inside;
  if (typeof inside._streamHandler !== 'function' || !(handlers instanceof Map)) {
    throw new Error('grpc-js has no _streamHandler and handlers to give calls to');
  }
  const entrance = inside as ServerInside;
  return {
    server,
    serve: (stream, headers) => {
      const encoding = headers['grpc-encoding'] ?? IDENTITY;
      if (encoding !== IDENTITY) {
        const message = `cannot decode messages of the encoding ${quoteText(encoding)}; wanted ${IDENTITY}`;
        stream.refuse({ status: status.UNIMPLEMENTED, message });
        return;
      }
      entrance._streamHandler([], stream, headers);
    },
    methodOf: (path) => (entrance.handlers.has(path) ? (path.slice(1) as ServedMethod) : 'unknown'),
    hasOneRequest: (path) => ONE_REQUEST.has(entrance.handlers.get(path)?.type ?? 'unary'),
  };
}
