import { createSocket } from 'node:dgram';
import { once } from 'node:events';

/** Answers with its name and the received datagram. */
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

/** Returns a free UDP port of the loopback. `freePorts` cannot be used: it keeps a UDP socket open on each port. */
export async function freeUdpPort(): Promise<number> {
  await using program = await UdpProgram.start();
  return program.port;
}

/** Repeats a datagram until an answer arrives, because UDP may lose the datagram or the answer. */
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
