import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A UDP server on the loopback that answers with its name and the received datagram. */
export class UdpProgram implements AsyncDisposable {
  readonly #socket = createSocket('udp4');

  private constructor(readonly name: string) {
    this.#socket.on('message', (datagram, { port, address }) =>
      this.#socket.send(Buffer.concat([Buffer.from(name), datagram]), port, address),
    );
  }

  static async start(name = ''): Promise<UdpProgram> {
    const program = new UdpProgram(name);
    program.#socket.bind(0, '127.0.0.1');
    await once(program.#socket, 'listening');
    return program;
  }

  get port(): number {
    return this.#socket.address().port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#socket.close();
    await once(this.#socket, 'close');
  }
}

/**
 * Returns a UDP port of the loopback on which nothing listens. `freePorts` cannot serve here, because it keeps the UDP ports of its numbers
 * open.
 */
export async function freeUdpPort(): Promise<number> {
  await using program = await UdpProgram.start();
  return program.port;
}

/** Repeats a datagram to a port of the loopback until an answer arrives, because UDP may lose either. */
export async function askUdp(port: number, datagram: Buffer | string): Promise<Buffer> {
  const socket = createSocket('udp4');
  const send = (): void => socket.send(datagram, port, '127.0.0.1');
  const again = setInterval(send, 250);
  try {
    const answered = once(socket, 'message') as Promise<[Buffer]>;
    send();
    return (await answered)[0];
  } finally {
    clearInterval(again);
    socket.close();
  }
}
