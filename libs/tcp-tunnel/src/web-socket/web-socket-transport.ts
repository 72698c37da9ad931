import { WebSocket } from 'ws';
import type { MessageTransport, TransportEvents } from '../session/message-transport.js';
import { TunnelError } from '../tunnel-error.js';
import type { TunnelWebSocket } from './tunnel-web-socket.js';

/** The shortest that a timer knows. */
const IDLE_MS = 1;
const SEND_OPTIONS = { binary: true, compress: false } as const;

/** A {@link MessageTransport} over an open WebSocket, which it then owns. */
export class WebSocketTransport implements MessageTransport {
  readonly #socket: TunnelWebSocket;
  readonly #closeTimeoutMs: number;
  #terminator: NodeJS.Timeout | undefined;

  /** @throws {TunnelError} `webSocketNotOpen`. */
  constructor(socket: TunnelWebSocket, closeTimeoutMs: number) {
    if (socket.readyState !== WebSocket.OPEN) {
      const message = `cannot begin a tunnel: found a WebSocket in state ${socket.readyState}; wanted an open one (1)`;
      throw new TunnelError('webSocketNotOpen', message);
    }
    this.#socket = socket;
    this.#closeTimeoutMs = closeTimeoutMs;
    socket.binaryType = 'nodebuffer';
  }

  /** From here on the events go to `receiver`; call it in the turn in which the WebSocket opened. */
  listen(receiver: TransportEvents): void {
    const socket = this.#socket;
    let failure: Error | undefined;
    socket.on('message', (data, isBinary) => {
      if (isBinary && Buffer.isBuffer(data)) receiver.message(data);
      else
        receiver.violated(
          'cannot decode a tunnel message: found a text frame; wanted binary frames',
        );
    });
    socket.on('ping', () => receiver.heard());
    socket.on('pong', () => receiver.heard());
    socket.on('error', (error) => (failure ??= error));
    socket.once('close', (code, reason) => {
      clearTimeout(this.#terminator);
      receiver.closed(code, reason.toString('utf8'), failure);
    });
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount;
  }

  send(message: Buffer, sent: () => void): void {
    this.#socket.send(message, SEND_OPTIONS, sent);
  }

  rest(idle: boolean, then: () => void): void {
    if (idle) setTimeout(then, IDLE_MS);
    else setImmediate(then);
  }

  pause(): void {
    this.#socket.pause();
  }

  resume(): void {
    this.#socket.resume();
  }

  afterTurn(delayMs: number, then: () => void): void {
    if (delayMs > 0) setTimeout(then, delayMs).unref();
    else setImmediate(then);
  }

  ping(): void {
    // The callback takes the error of a socket that has just closed; its `close` event follows.
    this.#socket.ping(undefined, undefined, () => undefined);
  }

  close(code: number, reason: string): void {
    this.#socket.close(code, reason);
    this.#terminator ??= setTimeout(() => this.#socket.terminate(), this.#closeTimeoutMs);
  }

  terminate(): void {
    this.#socket.terminate();
  }
}
