import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { WebSocketServer, type WebSocket } from 'ws';
import { MESSAGE } from './tunnel-frames.js';

const CONNECT = /tcp\/localhost:(\d+)$/;

/**
 * Imitates how the tunnel of a Go daemon refuses ports. It echoes data and ignores Hello. After a Connect to a forbidden port, it ends all streams of
 * the session and stops reading. It then closes the WebSocket, or leaves it open.
 */
export class GoTunnelServer implements AsyncDisposable {
  readonly #http: Server;
  readonly #sessions = new Set<WebSocket>();
  readonly #connects = new Map<number, number>();
  readonly #endsSilently: boolean;
  #ports: ReadonlySet<number>;

  private constructor(http: Server, ports: readonly number[], endsSilently: boolean) {
    this.#http = http;
    this.#ports = new Set(ports);
    this.#endsSilently = endsSilently;
    // This class answers pings, because `ws` would answer a ping that arrived together with the Connect even while the session is paused.
    new WebSocketServer({ server: http, autoPong: false }).on('connection', (session) =>
      this.#serve(session),
    );
  }

  static async listen(
    pipe: string,
    { ports, endsSilently }: { readonly ports: readonly number[]; readonly endsSilently: boolean },
  ): Promise<GoTunnelServer> {
    const http = createServer();
    const server = new GoTunnelServer(http, ports, endsSilently);
    await once(http.listen(pipe), 'listening');
    return server;
  }

  connectsTo(port: number): number {
    return this.#connects.get(port) ?? 0;
  }

  restart(ports: readonly number[]): void {
    this.#ports = new Set(ports);
    for (const session of this.#sessions) session.terminate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const session of this.#sessions) session.terminate();
    this.#http.close();
    await once(this.#http, 'close');
  }

  #serve(session: WebSocket): void {
    this.#sessions.add(session);
    session.on('close', () => this.#sessions.delete(session));
    const streams = new Set<number>();
    session.on('ping', (data) => {
      if (!session.isPaused) session.pong(data);
    });
    session.on('message', (message: Buffer) => {
      const [port = ''] = CONNECT.exec(message.toString('latin1'))?.slice(1) ?? [];
      // A message id of several bytes comes first. The stream and the type follow as one byte each, with doubled values.
      const [stream = 0, type = 0] = afterFirstNumber(message);
      if (type === MESSAGE.data * 2) session.send(message);
      if (type !== MESSAGE.connect * 2) return;
      this.#connects.set(Number(port), this.connectsTo(Number(port)) + 1);
      if (this.#ports.has(Number(port))) streams.add(stream);
      else this.#end(session, streams);
    });
  }

  #end(session: WebSocket, streams: ReadonlySet<number>): void {
    for (const stream of streams)
      session.send(
        Buffer.concat([
          Buffer.from([2, stream, MESSAGE.error * 2]),
          Buffer.from('tunnel disconnect'),
        ]),
      );
    if (this.#endsSilently) session.pause();
    else session.terminate();
  }
}

function afterFirstNumber(message: Buffer): Buffer {
  let at = 0;
  while ((message[at] ?? 0) > 127) at += 1;
  return message.subarray(at + 1);
}
