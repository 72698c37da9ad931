import type { WebSocket } from 'ws';
import { decodeMessage, MessageEncoder } from '../wire/encode.js';
import type { TunnelMessage } from '../wire/message.js';
import type { Int64 } from '../wire/varint.js';
import { until } from './tcp-server.js';

/** A peer without extensions that sends only the messages that a test passes to it. */
export class RawPeer {
  readonly encode = new MessageEncoder();
  readonly received: TunnelMessage[] = [];
  onMessage: (message: TunnelMessage) => void = () => undefined;

  constructor(readonly socket: WebSocket) {
    socket.on('message', (bytes: Buffer) => {
      const message = decodeMessage(bytes);
      this.onMessage(message);
      this.received.push(message);
    });
    socket.on('error', () => undefined);
  }

  send(message: Buffer): void {
    this.socket.send(message);
  }

  sendData(id: Int64, body: Buffer | string): void {
    const bytes = Buffer.from(body);
    const { message, bodyOffset } = this.encode.data(id, bytes.length);
    bytes.copy(message, bodyOffset);
    this.send(message);
  }

  dataOf(id: Int64): Buffer {
    return Buffer.concat(
      this.received.map((message) =>
        message.type === 'data' && message.id === id ? message.payload : Buffer.alloc(0),
      ),
    );
  }

  count(type: TunnelMessage['type']): number {
    return this.received.filter((message) => message.type === type).length;
  }

  async errorOf(id: Int64): Promise<string> {
    const find = (): TunnelMessage | undefined =>
      this.received.find((message) => message.type === 'error' && message.id === id);
    await until(() => find() !== undefined);
    const message = find();
    return message?.type === 'error' ? message.text : '';
  }
}
