import {
  escapeText,
  networkIdentity,
  TUNNEL_CLIENT_HEADER,
  TUNNEL_NETWORK_HEADER,
} from '@wins/base';
import {
  createServer,
  STATUS_CODES,
  type IncomingHttpHeaders,
  type IncomingMessage,
} from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer } from 'ws';
import { type TunnelWebSocket, webSocketServerOptions } from './web-socket/web-socket-options.js';

const HEADER_BYTES = 8 * 1024;
const MOST_HEADERS = 64;
const MOST_NAME_CHARACTERS = 128;

/** A client's request for a tunnel. Its content is the client's own statement. */
export interface TunnelRequest {
  /** Name that the client gives itself: escaped, at most 128 characters. Empty if it gives none. */
  readonly clientName: string;
  /** Path and query. Clients of wins use `/`. */
  readonly path: string;
  /** At most 64 headers of together 8 KiB, with lower-case names. */
  readonly headers: IncomingHttpHeaders;
}

/** Options of {@link TunnelHandshakes}. `Guest` is what the caller knows of a connection. */
export interface TunnelHandshakesOptions<Guest> {
  /** Time limit for a whole handshake, in milliseconds. Default 10,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * Decides whether a client gets a tunnel; if not, it is answered with 401. The time limit goes on meanwhile. An error refuses, too. Default: every
   * client does, because the access rights of a pipe already say who can open it.
   */
  readonly authorize?:
    | ((request: TunnelRequest, guest: Guest) => boolean | Promise<boolean>)
    | undefined;
  /** Called when a WebSocket opens. Must start `serveTunnel` with both in the same turn of the event loop. Must not throw. */
  readonly opened: (
    webSocket: TunnelWebSocket & { readonly isPaused: boolean },
    localConnection: Duplex,
    guest: Guest,
    request: TunnelRequest,
  ) => void;
}

/** Answers the WebSocket handshakes of tunnels on connections that the caller has accepted, such as those of a pipe. */
export class TunnelHandshakes<Guest> {
  readonly #http = createServer({ maxHeaderSize: HEADER_BYTES, keepAlive: false });
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    ...webSocketServerOptions(),
  });
  readonly #guests = new WeakMap<
    Duplex,
    { readonly guest: Guest; readonly endDeadline: () => void }
  >();
  readonly #options: TunnelHandshakesOptions<Guest>;
  #isRefusing = false;

  constructor(options: TunnelHandshakesOptions<Guest>) {
    this.#options = options;
    this.#http.maxHeadersCount = MOST_HEADERS;
    this.#webSockets.on('headers', (answered, { headers }) => {
      const asked = headers[TUNNEL_NETWORK_HEADER];
      // Reveals only whether the client shares this network. If so, a tunnel would lead back to the client.
      if (asked === undefined || asked !== networkIdentity()) return;
      answered.push(`${TUNNEL_NETWORK_HEADER}: same`);
    });
    this.#http.on('request', (_request, response) => {
      response.writeHead(426, { upgrade: 'websocket', connection: 'upgrade, close' }).end();
    });
    this.#http.on('upgrade', (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  /** Reads the handshake of a connection, which this class then owns. */
  begin(socket: Socket, guest: Guest): void {
    // Without a listener, the loss of a connection that is refused would end the process.
    socket.on('error', ignore);
    // The HTTP server never listens, so its own time-outs do not work.
    const endDeadline = startDeadline(socket, this.#options.timeoutMs ?? 10_000);
    this.#guests.set(socket, { guest, endDeadline });
    this.#http.emit('connection', socket);
  }

  /** Answers all later handshakes with 503. */
  refuse(): void {
    this.#isRefusing = true;
  }

  async #upgrade(message: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    const accepted = this.#guests.get(socket);
    if (accepted === undefined) return;
    const { guest, endDeadline } = accepted;
    const name = String(message.headers[TUNNEL_CLIENT_HEADER] ?? '').trim();
    const clientName = escapeText(name, { maxLength: MOST_NAME_CHARACTERS });
    const request = { clientName, path: message.url ?? '/', headers: message.headers };
    const isAuthorized = await this.#isAuthorized(request, guest);
    if (socket.destroyed) return;
    if (!isAuthorized || this.#isRefusing) {
      answer(socket, isAuthorized ? 503 : 401);
      return;
    }
    this.#webSockets.handleUpgrade(message, socket, head, (webSocket) => {
      endDeadline();
      this.#options.opened(webSocket, socket, guest, request);
    });
  }

  async #isAuthorized(request: TunnelRequest, guest: Guest): Promise<boolean> {
    try {
      return (await this.#options.authorize?.(request, guest)) ?? true;
    } catch {
      return false;
    }
  }
}

function ignore(): void {
  // The connection closes by itself.
}

/**
 * Destroys the connection after the time limit. After a stall of this process, timers run before Node reads buffered input. `setImmediate` lets Node
 * read it first, so that the stall does not cost the client its connection.
 *
 * @returns A function that cancels the deadline. Idempotent.
 */
function startDeadline(connection: Duplex, timeoutMs: number): () => void {
  let last: NodeJS.Immediate | undefined;
  const deadline = setTimeout(() => {
    last = setImmediate(() => connection.destroy());
  }, timeoutMs);
  const end = (): void => {
    clearTimeout(deadline);
    clearImmediate(last);
  };
  connection.once('close', end);
  return end;
}

function answer(socket: Duplex, status: number): void {
  const text = STATUS_CODES[status] ?? '';
  socket.end(`HTTP/1.1 ${status} ${text}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
}
