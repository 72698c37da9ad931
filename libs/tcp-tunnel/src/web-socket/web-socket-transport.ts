import type { Duplex } from 'node:stream';
import { WebSocket } from 'ws';
import type { MessageTransport, TransportEvents } from '../stream/message-transport.js';
import { TunnelError } from '../tunnel-error.js';
import { plainFrame, PlainFrameReader } from './plain-frames.js';
import type { TunnelWebSocket } from './web-socket-options.js';

/** Shortest delay of a timer. */
const IDLE_MS = 1;
const SEND_OPTIONS = { binary: true, compress: false } as const;
/** Messages up to this size are copied behind their frame head, because one write is cheaper than two. */
const COPIED_BYTES = 1024;
/** Maximum number of gathered bytes of short messages. If it is exceeded, they are written before the event-loop turn ends. */
const MOST_GATHERED_BYTES = 16 * 1024;
const NOTHING = Buffer.alloc(0);

export interface WebSocketTransportOptions {
  readonly closeTimeoutMs: number;
  readonly isClient: boolean;
  readonly localConnection?: Duplex | undefined;
}

/**
 * A {@link MessageTransport} over an open WebSocket, which the transport then owns. With a local connection,
 * plain frames are read from it and written to it directly, because the library ws causes most of the cost of a message.
 */
export class WebSocketTransport implements MessageTransport {
  readonly #socket: TunnelWebSocket;
  readonly #options: WebSocketTransportOptions;
  #terminator: NodeJS.Timeout | undefined;
  #gathered: Buffer[] = [];
  #gatheredBytes = 0;
  #toTell: (() => void)[] = [];
  /** `messages` counts this event-loop turn's short messages. `isBusy` means that the previous turn had several. */
  #turn = { messages: 0, isBusy: false };
  readonly #endTurn = (): void => {
    this.#turn = { messages: 0, isBusy: this.#turn.messages > 1 };
    this.#writeGathered();
  };

  /** @throws {TunnelError} `webSocketNotOpen`. */
  constructor(socket: TunnelWebSocket, options: WebSocketTransportOptions) {
    if (socket.readyState !== WebSocket.OPEN) {
      const message = `cannot begin a tunnel: found a WebSocket in state ${socket.readyState}; wanted an open one (1)`;
      throw new TunnelError('webSocketNotOpen', message);
    }
    this.#socket = socket;
    this.#options = options;
    socket.binaryType = 'nodebuffer';
  }

  /** Must be called in the turn in which the WebSocket opened. */
  listen(receiver: TransportEvents): void {
    const socket = this.#socket;
    let failure: Error | undefined;
    socket.on('message', (data, isBinary) => {
      if (isBinary && Buffer.isBuffer(data)) receiver.message([data]);
      else
        receiver.violated(
          'cannot decode a tunnel message: found a text frame; wanted binary frames',
        );
    });
    socket.on('ping', () => receiver.heard());
    socket.on('pong', () => receiver.answered());
    socket.on('error', (error) => (failure ??= error));
    socket.once('close', (code, reason) => {
      clearTimeout(this.#terminator);
      receiver.closed(code, reason.toString('utf8'), failure);
    });
    if (this.#options.localConnection !== undefined)
      this.#readPlainFrames(this.#options.localConnection, receiver);
  }

  get bufferedBytes(): number {
    return this.#socket.bufferedAmount + this.#gatheredBytes;
  }

  send(message: Buffer, sent: () => void, rest: readonly Buffer[] = []): void {
    const { localConnection, isClient } = this.#options;
    if (localConnection === undefined || this.#socket.readyState !== WebSocket.OPEN) {
      const whole = rest.length === 0 ? message : Buffer.concat([message, ...rest]);
      this.#socket.send(whole, SEND_OPTIONS, sent);
    } else if (rest.length > 0) this.#write(localConnection, message, rest, sent);
    else if (message.length > COPIED_BYTES) this.#write(localConnection, NOTHING, [message], sent);
    else this.#sendShort(localConnection, plainFrame(isClient, message, 0), sent);
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
    this.#writeGathered();
    // The callback discards the error of a socket that has just closed; its `close` event follows.
    this.#socket.ping(undefined, undefined, () => undefined);
  }

  close(code: number, reason: string): void {
    this.#writeGathered();
    this.#socket.close(code, reason);
    this.#terminator ??= setTimeout(() => this.#socket.terminate(), this.#options.closeTimeoutMs);
  }

  terminate(): void {
    this.#socket.terminate();
  }

  /**
   * Sends a short message at once, unless the previous event-loop turn had several. In that case, gathers this turn's short
   * messages and writes them when the turn ends: a write wakes the peer, and costs more than all other work on a short message.
   */
  #sendShort(connection: Duplex, frame: Buffer, sent: () => void): void {
    if (this.#turn.messages === 0) setImmediate(this.#endTurn);
    this.#turn.messages += 1;
    if (!this.#turn.isBusy) {
      connection.write(frame, sent);
      return;
    }
    this.#gathered.push(frame);
    this.#toTell.push(sent);
    this.#gatheredBytes += frame.length;
    if (this.#gatheredBytes > MOST_GATHERED_BYTES) this.#writeGathered();
  }

  #writeGathered(): void {
    const { localConnection } = this.#options;
    const [first, ...others] = this.#gathered;
    if (first === undefined || localConnection === undefined) return;
    const toTell = this.#toTell;
    const frames = others.length === 0 ? first : Buffer.concat(this.#gathered);
    [this.#gathered, this.#toTell, this.#gatheredBytes] = [[], [], 0];
    const tell = (): void => {
      for (const sent of toTell) sent();
    };
    // The connection is not writable once the peer has ended it and stopped reading.
    if (localConnection.writable) localConnection.write(frames, tell);
    else setImmediate(tell);
  }

  #write(connection: Duplex, beginning: Buffer, rest: readonly Buffer[], sent: () => void): void {
    const restBytes = rest.reduce((sum, part) => sum + part.length, 0);
    const last = rest.at(-1);
    connection.cork();
    this.#writeGathered();
    connection.write(plainFrame(this.#options.isClient, beginning, restBytes));
    for (const part of rest)
      if (part === last) connection.write(part, sent);
      else connection.write(part);
    connection.uncork();
  }

  /** Replaces ws as the connection's data listener, and forwards all but plain frames to ws. */
  #readPlainFrames(connection: Duplex, receiver: TransportEvents): void {
    const listeners = connection.listeners('data') as ((this: Duplex, bytes: Buffer) => void)[];
    const reader = new PlainFrameReader(!this.#options.isClient, {
      message: (parts) => receiver.message(parts),
      other: (bytes) => {
        // The WebSocket may answer this frame, so earlier messages must be written first.
        this.#writeGathered();
        for (const listener of listeners) listener.call(connection, bytes);
      },
    });
    const take = (bytes: Buffer): void => reader.take(bytes);
    connection.on('data', take);
    for (const listener of listeners) connection.off('data', listener);
    // Read the rest of a paused connection before ws does: ws might start in the middle of a frame.
    connection.prependListener('close', () => {
      connection.off('data', take);
      const left = connection.read() as Buffer | null;
      if (left !== null) reader.take(left);
    });
  }
}
