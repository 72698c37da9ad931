import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** A UDP server of the loopback that answers with its name and what it was sent. */
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

/** A UDP port of the loopback on which nothing listens. `freePorts` takes the UDP ports of the numbers that it gives. */
export async function freeUdpPort(): Promise<number> {
  await using program = await UdpProgram.start();
  return program.port;
}

/** Sends a datagram to a port of the loopback until one comes back, since each may be lost. */
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
