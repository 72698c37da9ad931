import { createSocket, type Socket } from 'node:dgram';
import { errnoOf } from '@wins/base';
import { dialError } from '../tunnel-error.js';
import { MOST_UNSENT_BYTES, type UdpFlow, type UdpFlowEvents } from './udp-flow.js';

/** A literal IPv4 address, never a name. */
export interface UdpTarget {
  readonly host: string;
  readonly port: number;
}

/** Errors that concern one datagram, which is too long or finds a full buffer. The flow goes on. */
const OF_ONE_DATAGRAM: ReadonlySet<string | undefined> = new Set(['EMSGSIZE', 'ENOBUFS', 'EAGAIN']);

/**
 * Creates a socket for literal addresses only. The socket looks up no names, so `bind` and `connect` have already taken
 * effect when they return.
 */
export function literalSocket(type: 'udp4' | 'udp6' = 'udp4'): Socket {
  const family = type === 'udp4' ? 4 : 6;
  return createSocket({ type, lookup: (host, _options, done) => done(null, host, family) });
}

/**
 * Opens a flow to a literal address. Each flow has its own connected socket, so the system delivers only datagrams from
 * that address and port. If the destination refuses or the socket fails, the flow ends with `dialRefused` or
 * `dialFailed`. The flow has no time-out.
 */
export function dialUdp({ host, port }: UdpTarget, events: UdpFlowEvents): UdpFlow {
  const socket = literalSocket();
  let isOpen = true;
  const close = (): void => {
    if (!isOpen) return;
    isOpen = false;
    socket.close();
  };
  const fail = (cause: unknown): void => {
    if (!isOpen) return;
    close();
    process.nextTick(() => events.onEnd(dialError(port, cause)));
  };
  socket.on('error', fail);
  socket.on('message', (datagram, from) => {
    // Until it is connected, a bound socket receives datagrams from any source.
    if (isOpen && from.port === port && from.address === host) events.onDatagram(datagram);
  });
  try {
    // For a loopback destination, receive datagrams only from the loopback.
    if (host.startsWith('127.')) socket.bind({ address: '127.0.0.1', port: 0, exclusive: true });
    socket.connect(port, host);
  } catch (error) {
    fail(error);
  }
  return {
    send: (datagram) => {
      if (!isOpen || socket.getSendQueueSize() > MOST_UNSENT_BYTES) return;
      try {
        socket.send(datagram, (error) => {
          if (error !== null && !OF_ONE_DATAGRAM.has(errnoOf(error))) fail(error);
        });
      } catch (error) {
        fail(error);
      }
    },
    close,
    [Symbol.dispose]: close,
  };
}
