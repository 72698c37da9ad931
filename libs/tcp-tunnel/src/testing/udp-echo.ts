import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';

export interface UdpEcho {
  readonly port: number;
  /** Sources of received datagrams, as `ADDRESS PORT`. */
  readonly sources: ReadonlySet<string>;
  close(): Promise<void>;
}

export async function startUdpEcho(): Promise<UdpEcho> {
  const socket = createSocket('udp4');
  const sources = new Set<string>();
  socket.on('message', (datagram, { address, port }) => {
    sources.add(`${address} ${port}`);
    socket.send(datagram, port, address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  let isOpen = true;
  return {
    port: socket.address().port,
    sources,
    close: async () => {
      if (!isOpen) return;
      isOpen = false;
      socket.close();
      await once(socket, 'close');
    },
  };
}

export interface UdpClient {
  readonly socket: Socket;
  readonly received: readonly Buffer[];
  /** Sends the datagram again and again until an answer arrives, because datagrams may be lost. */
  ask(port: number, datagram: Buffer): Promise<Buffer>;
}

/** Time in milliseconds after which an answer counts as lost. */
const LOST_MS = 1_000;

export async function openUdp(): Promise<UdpClient> {
  const socket = createSocket('udp4');
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  const received: Buffer[] = [];
  socket.on('message', (datagram) => received.push(datagram));
  return {
    socket,
    received,
    ask: async (port, datagram) => {
      const send = (): void => socket.send(datagram, port, '127.0.0.1');
      const again = setInterval(send, LOST_MS);
      try {
        const answered = once(socket, 'message') as Promise<[Buffer]>;
        send();
        return (await answered)[0];
      } finally {
        clearInterval(again);
      }
    },
  };
}
