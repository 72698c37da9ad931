import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import type { Daemon } from '../daemon.js';
import type { Workspace } from '../workspace.js';

export type Sender = 'client' | 'daemon';
/** Creates a filter for one direction of a connection; the filter returns the chunks to forward. */
export type Passing = (from: Sender) => (chunk: Buffer) => Iterable<Buffer>;

/** Relays connections to the daemon's tunnel pipe. A test can change or stop their traffic. */
export class TunnelRelay implements AsyncDisposable {
  readonly #sockets = new Set<Socket>();
  readonly #frozen = new Set<Socket>();

  readonly #server: Server;

  private constructor(
    readonly path: string,
    server: Server,
  ) {
    this.#server = server;
  }

  static async start(
    workspace: Workspace,
    daemon: Daemon,
    passing: Passing = () => (chunk) => [chunk],
  ): Promise<TunnelRelay> {
    const ready = await daemon.logged(({ msg }) => msg === 'ready');
    const server = createServer({ noDelay: true });
    const relay = new TunnelRelay(workspace.path('relay'), server);
    server.on('connection', (near) => {
      const far = connect({ path: String(ready['tunnelAddress']), noDelay: true });
      relay.#forward(near, far, passing('client'));
      relay.#forward(far, near, passing('daemon'));
    });
    await once(server.listen(relay.path), 'listening');
    return relay;
  }

  /** Freezes the open connections: they pass neither data nor a close. New connections work. */
  freeze(): void {
    for (const socket of this.#sockets) this.#frozen.add(socket);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = once(this.#server, 'close');
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  #forward(from: Socket, to: Socket, pass: (chunk: Buffer) => Iterable<Buffer>): void {
    this.#sockets.add(from);
    from.on('data', (chunk: Buffer) => {
      if (this.#frozen.has(from)) return;
      let mayWrite = true;
      for (const piece of pass(chunk)) mayWrite = to.write(piece);
      if (mayWrite) return;
      from.pause();
      to.once('drain', () => from.resume());
    });
    from.on('error', () => undefined);
    from.on('close', () => {
      this.#sockets.delete(from);
      if (!this.#frozen.delete(from)) to.destroy();
    });
  }
}
