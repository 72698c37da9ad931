import { webSocketServerOptions } from '@wins/tcp-tunnel';
import {
  networkIdentity,
  TUNNEL_CLIENT_HEADER,
  TUNNEL_NETWORK_HEADER,
  type ClientIdentity,
} from '@wins/base';
import { createServer, STATUS_CODES, type IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { WebSocketServer, type WebSocket } from 'ws';
import { clientLabel } from '../../kernel/admission/client-label.js';
import type { Slot } from '../../kernel/admission/slots.js';

const HEADER_BYTES = 8 * 1024;
const MOST_HEADERS = 64;

export interface Guest {
  readonly client: ClientIdentity;
  readonly slot: Slot;
}

export class WebSocketHandshakes {
  readonly #http = createServer({ maxHeaderSize: HEADER_BYTES, keepAlive: false });
  readonly #webSockets = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    ...webSocketServerOptions(),
  });
  readonly #guests = new WeakMap<Duplex, Guest & { readonly endDeadline: () => void }>();
  readonly #timeoutMs: number;
  readonly #opened: (webSocket: WebSocket, socket: Duplex, guest: Guest, label: string) => void;
  #isRefusing = false;

  /** @param timeoutMs - Time limit for the whole handshake. */
  constructor(
    timeoutMs: number,
    opened: (webSocket: WebSocket, socket: Duplex, guest: Guest, label: string) => void,
  ) {
    this.#timeoutMs = timeoutMs;
    this.#opened = opened;
    this.#http.maxHeadersCount = MOST_HEADERS;
    this.#webSockets.on('headers', (answered, { headers }) => {
      const asked = headers[TUNNEL_NETWORK_HEADER];
      // Reveals only whether the client shares the daemon's network. If so, a tunnel would lead back to the client.
      if (asked === undefined || asked !== networkIdentity()) return;
      answered.push(`${TUNNEL_NETWORK_HEADER}: same`);
    });
    this.#http.on('request', (_request, response) => {
      response.writeHead(426, { upgrade: 'websocket', connection: 'upgrade, close' }).end();
    });
    this.#http.on('upgrade', (request, socket, head) => this.#upgrade(request, socket, head));
  }

  begin(socket: Socket, guest: Guest): void {
    // The HTTP server never listens, so its own time-outs do not work.
    this.#guests.set(socket, { ...guest, endDeadline: startDeadline(socket, this.#timeoutMs) });
    this.#http.emit('connection', socket);
  }

  /** Answers all later handshakes with 503. */
  refuse(): void {
    this.#isRefusing = true;
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const label = clientLabel(String(request.headers[TUNNEL_CLIENT_HEADER] ?? '').trim());
    const guest = this.#guests.get(socket);
    if (guest === undefined || this.#isRefusing) {
      answer(socket, 503);
      return;
    }
    if (label === '') {
      answer(socket, 401);
      return;
    }
    if (!guest.slot.settle()) return;
    this.#webSockets.handleUpgrade(request, socket, head, (webSocket) => {
      guest.endDeadline();
      this.#opened(webSocket, socket, guest, label);
    });
  }
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
