import { randomInt } from 'node:crypto';
import { createSocket as createUdpSocket, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import {
  createServer as createHttpServer,
  type IncomingMessage,
  type RequestListener,
} from 'node:http';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import type { Duplex, Readable } from 'node:stream';
import { startWins, type Outcome, type RunningProgram } from '../built-program.js';
import type { Workspace } from '../workspace.js';

export class Tunnel implements AsyncDisposable {
  private constructor(readonly program: RunningProgram) {}

  /** Does not wait until the tunnel is up. */
  static launch(workspace: Workspace, publish: string, ...args: string[]): Tunnel {
    return new Tunnel(
      startWins(['cli', 'proxy', '--publish', publish, ...args], workspace.environment),
    );
  }

  static async start(workspace: Workspace, publish: string, ...args: string[]): Promise<Tunnel> {
    const tunnel = Tunnel.launch(workspace, publish, ...args);
    await tunnel.program.said('the tunnel is ready');
    return tunnel;
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    this.program.child.kill(signal);
    return this.program.outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const { child } = this.program;
    if (child.exitCode === null && child.signalCode === null) await this.stop('SIGKILL');
  }
}

/** A host program that listens on the loopback. */
export class HostProgram implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  connections = 0;

  readonly #server: Server;

  private constructor(server: Server) {
    this.#server = server;
    server.on('connection', (socket: Socket) => {
      this.connections += 1;
      this.#sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => this.#sockets.delete(socket));
    });
  }

  static http(handler: RequestListener): Promise<HostProgram> {
    return HostProgram.#listen(createHttpServer(handler));
  }

  static tcp(handler: (socket: Socket) => void, host?: string, port = 0): Promise<HostProgram> {
    return HostProgram.#listen(createServer({ allowHalfOpen: true }, handler), host, port);
  }

  static async #listen(server: Server, host = '127.0.0.1', port = 0): Promise<HostProgram> {
    const program = new HostProgram(server);
    await once(server.listen(port, host), 'listening');
    return program;
  }

  onUpgrade(handler: (incoming: IncomingMessage, socket: Duplex, head: Buffer) => void): void {
    this.#server.on('upgrade', handler);
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openSockets(): readonly Socket[] {
    return [...this.#sockets];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }
}

/** UDP sockets that reserve ports for this process. */
const claims: UdpSocket[] = [];

/**
 * Returns free TCP ports. While this process runs, no other call on this machine returns the same ports, because this process holds a UDP socket with
 * each number. The ports are below those that Linux, Windows and macOS choose for port 0 and for outgoing connections.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) {
    const port = randomInt(10_000, 32_768);
    if ((await claim(port)) && (await isUnused(port))) ports.push(port);
  }
  return ports;
}

async function claim(port: number): Promise<boolean> {
  const socket = createUdpSocket('udp4').unref();
  try {
    await once(socket.bind({ port, address: '127.0.0.1', exclusive: true }), 'listening');
  } catch {
    socket.close();
    return false;
  }
  claims.push(socket);
  return true;
}

async function isUnused(port: number): Promise<boolean> {
  const server = createServer();
  try {
    await once(server.listen(port), 'listening');
  } catch {
    return false;
  }
  await once(server.close(), 'close');
  return true;
}

/** Reads to the end. Iteration would destroy a stream that is still writable. */
export async function textOf(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  stream.on('data', (chunk: Buffer) => chunks.push(chunk));
  await once(stream, 'end');
  return Buffer.concat(chunks).toString('latin1');
}
