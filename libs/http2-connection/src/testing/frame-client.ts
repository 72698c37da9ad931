import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { FLAG, FRAME, FRAME_HEADER_OCTETS, frame, PREFACE, settingsFrame } from '../frame.js';
import { HpackDecoder } from '../hpack/hpack-decoder.js';
import type { HeaderField } from '../hpack/static-table.js';
import { HpackEncoder } from '../hpack/hpack-encoder.js';

export interface ReceivedFrame {
  readonly type: number;
  readonly flags: number;
  readonly streamId: number;
  readonly payload: Buffer;
}

/** A client that can send any frame, even invalid ones. */
export class FrameClient implements Disposable {
  readonly frames: ReceivedFrame[] = [];
  readonly closed: Promise<void>;
  readonly #encoder = new HpackEncoder();
  readonly #decoder = new HpackDecoder();
  #rest = Buffer.alloc(0);
  #arrived: (() => void)[] = [];

  private constructor(readonly socket: Socket) {
    socket.on('error', () => undefined);
    this.closed = new Promise((resolve) => socket.once('close', () => resolve()));
    void this.closed.then(() => this.#tell());
    socket.on('data', (chunk: Buffer) => this.#receive(chunk));
  }

  static async connect(address: string): Promise<FrameClient> {
    const socket = connect(address);
    await once(socket, 'connect');
    return new FrameClient(socket);
  }

  [Symbol.dispose](): void {
    this.socket.destroy();
  }

  async greet(settings: readonly (readonly [number, number])[] = []): Promise<void> {
    this.socket.write(Buffer.concat([PREFACE, settingsFrame(settings)]));
    await this.received(({ type, flags }) => type === FRAME.settings && flags === 0);
    this.send(FRAME.settings, FLAG.ack, 0);
  }

  send(type: number, flags: number, streamId: number, payload: Buffer = Buffer.alloc(0)): void {
    this.socket.write(frame(type, flags, streamId, payload));
  }

  block(path = '/x.Y/Unary', more: readonly HeaderField[] = []): Buffer {
    return this.#encoder.encode([
      [':method', 'POST'],
      [':scheme', 'http'],
      [':path', path],
      [':authority', 'npipe:////./pipe/rancher_wins'],
      ['content-type', 'application/grpc'],
      ['te', 'trailers'],
      ...more,
    ]);
  }

  headers(streamId: number, flags: number = FLAG.endHeaders, block = this.block()): void {
    this.send(FRAME.headers, flags, streamId, block);
  }

  /** Resolves with the first matching frame, which may have arrived before the call. */
  async received(wanted: (frame: ReceivedFrame) => boolean): Promise<ReceivedFrame> {
    for (;;) {
      const found = this.frames.find(wanted);
      if (found !== undefined) return found;
      if (this.socket.destroyed) throw new Error('the server has closed the connection');
      await new Promise<void>((resolve) => this.#arrived.push(resolve));
    }
  }

  async goaway(): Promise<string> {
    const { payload } = await this.received(({ type }) => type === FRAME.goaway);
    return payload.subarray(8).toString();
  }

  async reset(stream: number): Promise<number> {
    const { payload } = await this.received(
      ({ type, streamId }) => type === FRAME.rstStream && streamId === stream,
    );
    return payload.readUInt32BE(0);
  }

  /** Resolves when the server has read all earlier frames. */
  async ping(mark: string): Promise<void> {
    const payload = Buffer.from(mark.padEnd(8)).subarray(0, 8);
    this.send(FRAME.ping, 0, 0, payload);
    await this.received((got) => got.type === FRAME.ping && got.payload.equals(payload));
  }

  body(stream: number): Buffer {
    return Buffer.concat(
      this.frames
        .filter(({ type, streamId }) => type === FRAME.data && streamId === stream)
        .map(({ payload }) => payload),
    );
  }

  /** Must be called for every header block, in order of arrival, because HPACK has state. */
  decode(received: ReceivedFrame): Record<string, string> {
    return Object.fromEntries(this.#decoder.decode(received.payload));
  }

  #receive(chunk: Buffer): void {
    this.#rest = Buffer.concat([this.#rest, chunk]);
    while (this.#rest.length >= FRAME_HEADER_OCTETS) {
      const end = FRAME_HEADER_OCTETS + this.#rest.readUIntBE(0, 3);
      if (this.#rest.length < end) break;
      this.frames.push({
        type: this.#rest[3] as number,
        flags: this.#rest[4] as number,
        streamId: this.#rest.readUInt32BE(5),
        payload: this.#rest.subarray(FRAME_HEADER_OCTETS, end),
      });
      this.#rest = this.#rest.subarray(end);
    }
    this.#tell();
  }

  #tell(): void {
    for (const resolve of this.#arrived.splice(0)) resolve();
  }
}

export function grpcMessage(body: Buffer | string): Buffer {
  const octets = Buffer.from(body);
  const head = Buffer.alloc(5);
  head.writeUInt32BE(octets.length, 1);
  return Buffer.concat([head, octets]);
}
