import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { recordedDaemon, type RecordedCommand } from './recorded-client.js';

const PREFACE_BYTES = 24;
const FRAME_HEADER_BYTES = 9;
const HEADERS_FRAME = 1;

/** Replays the recorded answer of a Go daemon of release 0.1.1 to one command, without checking the request. */
export class RecordedDaemon implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();

  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async listen(address: string, command: RecordedCommand): Promise<RecordedDaemon> {
    const server = createServer();
    const daemon = new RecordedDaemon(server);
    server.on('connection', (socket) => daemon.#answer(socket, recordedDaemon(command)));
    server.listen(address);
    await once(server, 'listening');
    return daemon;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  /** Sends the settings at once, because the client waits for them. Sends the rest after the client's first HEADERS frame. */
  #answer(socket: Socket, octets: Buffer): void {
    this.#sockets.add(socket);
    socket.on('close', () => this.#sockets.delete(socket));
    socket.on('error', () => undefined);
    const settingsBytes = FRAME_HEADER_BYTES + octets.readUIntBE(0, 3);
    socket.write(octets.subarray(0, settingsBytes));
    const received: Buffer[] = [];
    socket.on('data', (chunk) => {
      received.push(chunk);
      if (!hasRequest(Buffer.concat(received))) return;
      socket.removeAllListeners('data').resume();
      socket.write(octets.subarray(settingsBytes));
    });
  }
}

function hasRequest(octets: Buffer): boolean {
  for (let at = PREFACE_BYTES; at + FRAME_HEADER_BYTES <= octets.length;) {
    if (octets[at + 3] === HEADERS_FRAME) return true;
    at += FRAME_HEADER_BYTES + octets.readUIntBE(at, 3);
  }
  return false;
}
