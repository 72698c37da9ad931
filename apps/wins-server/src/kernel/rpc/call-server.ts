import { Server, status } from '@grpc/grpc-js';
import type { ServedStream, RequestHeaders } from '@wins/http2-connection';
import { quoteText } from '@wins/base';

/** Internals of grpc-js. `_streamHandler` accepts streams of any HTTP/2 implementation. */
interface ServerInside {
  readonly handlers: ReadonlyMap<string, { readonly type: string }>;
  _streamHandler(interceptors: readonly unknown[], stream: ServedStream, headers: object): void;
}

/** The only message encoding that the server accepts: no compression. */
const IDENTITY = 'identity';
const ONE_REQUEST: ReadonlySet<string> = new Set(['unary', 'serverStream']);

declare const served: unique symbol;

/** `package.Service/Method` of a served method. Any other name is `unknown`, because clients choose it. */
export type ServedMethod = 'unknown' | (string & { readonly [served]: true });

/** Other limits are in `@wins/http2-connection`. */
const LARGEST_REQUEST_OCTETS = 1024 * 1024;

export interface CallServer {
  readonly server: Server;
  serve(stream: ServedStream, headers: RequestHeaders): void;
  /** True if a call to this path sends exactly one request. Also true for an unknown path, because no handler would read more requests. */
  hasOneRequest(path: string): boolean;
  methodOf(path: string): ServedMethod;
}

/** Without these, grpc-js would advertise compression. */
export const ANSWER_HEADERS = { 'grpc-accept-encoding': IDENTITY } as const;

/** Creates a grpc-js server, which finds handlers, encodes messages, and tracks the status. @throws Error if grpc-js lacks `_streamHandler`. */
export function createCallServer(): CallServer {
  // With channelz, grpc-js would not call `_streamHandler`.
  const server = new Server({
    'grpc.enable_channelz': 0,
    'grpc.max_receive_message_length': LARGEST_REQUEST_OCTETS,
  });
  const inside = server as unknown as Partial<ServerInside>;
  const { handlers } = inside;
  if (typeof inside._streamHandler !== 'function' || !(handlers instanceof Map))
    throw new Error('cannot serve calls: this grpc-js has no _streamHandler or no handlers');
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
