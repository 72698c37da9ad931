import type { Duplex } from 'node:stream';

const PIPE = 'pipe';
/** What grpc-js says of a peer that it cannot name. */
const UNKNOWN = 'unknown';

/**
 * Gives a connection the peer name `pipe:ID`, which `peerOf` finds again in every call of that connection. `id` is a
 * positive integer, unique per connection of a daemon. Call it before the HTTP/2 server gets the stream.
 *
 * @throws RangeError when `id` is not a positive safe integer
 */
export function identifyConnection(stream: Duplex, id: number): void {
  if (!Number.isSafeInteger(id) || id < 1) {
    throw new RangeError(`a connection was given the id ${id}; wanted a positive integer`);
  }
  Object.defineProperties(stream, {
    remoteAddress: { value: PIPE, configurable: true },
    remotePort: { value: id, configurable: true },
  });
}

function property(holder: unknown, name: string): unknown {
  return typeof holder === 'object' && holder !== null
    ? (holder as Record<string, unknown>)[name]
    : undefined;
}

/**
 * The peer name of the connection that carries a gRPC call: `pipe:ID` after `identifyConnection`, else what grpc-js says;
 * `unknown` when the connection is gone already. Never throws.
 *
 * `call.getPeer()` alone knows the connections that are sockets. A Duplex gets wrapped by Node, and the wrapper answers for
 * it; the way to the Duplex leads through the insides of grpc-js, so it is walked with care, and here only.
 */
export function peerOf(call: { getPeer(): string }): string {
  try {
    const peer = call.getPeer();
    return peer === UNKNOWN ? wrappedPeer(call) : peer;
  } catch {
    // Node throws for any look at the socket of a session that has ended.
    return UNKNOWN;
  }
}

function wrappedPeer(call: unknown): string {
  let inner = property(call, 'call');
  while (property(inner, 'nextCall') !== undefined) inner = property(inner, 'nextCall');
  const session = property(property(inner, 'stream'), 'session');
  const stream = property(property(session, 'socket'), 'stream');
  const id = property(stream, 'remotePort');
  const identified = property(stream, 'remoteAddress') === PIPE && typeof id === 'number';
  return identified ? `${PIPE}:${id}` : UNKNOWN;
}
