import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import path from 'node:path';
import { ROOT } from '../workspace.js';
import { MESSAGE, TunnelFrames, type TunnelFrame } from './tunnel-frames.js';

const FINAL_BINARY = 0x82;
const ZERO_MASK = Buffer.alloc(4);
/** In a header: "The client masks its frames", and "the length follows in two bytes". */
const MASKED = 0x80;
const TWO_BYTES = 126;

/** One connection through {@link GoTunnelClient}. */
export interface GoStream {
  /** Sends the text, and resolves when the daemon has sent as many bytes. Rejects with the daemon's Error. */
  echo(text: string): Promise<string>;
  /** Text of the daemon's Error, once the daemon has ended the stream. */
  readonly error: string | undefined;
}

/**
 * Repeats the recorded handshake, Connect and Data of a Go client, for any number of connections. Like remotedialer 0.4.1 to 0.6.1, it tells the daemon
 * nothing when the local program closes a connection.
 */
export class GoTunnelClient implements Disposable {
  readonly #socket: Socket;
  readonly #recorded: { readonly connect: Buffer; readonly data: Buffer };
  readonly #streams = new Map<number, { frame(frame: TunnelFrame): void }>();

  private constructor(socket: Socket, recorded: { connect: Buffer; data: Buffer }) {
    this.#socket = socket;
    this.#recorded = recorded;
    const frames = new TunnelFrames();
    socket.on('error', () => undefined);
    socket.on('data', (chunk: Buffer) => {
      for (const frame of frames.add(chunk)) this.#streams.get(frame.stream)?.frame(frame);
    });
  }

  static async open(address: string): Promise<GoTunnelClient> {
    const frames = recordedFrames();
    const [head, ...messages] = frames;
    const payloadOf = (wanted: number): Buffer =>
      messages.find(({ type }) => type === wanted)?.payload ?? Buffer.alloc(0);
    const socket = connect(address);
    const recorded = { connect: payloadOf(MESSAGE.connect), data: payloadOf(MESSAGE.data) };
    const client = new GoTunnelClient(socket, recorded);
    await once(socket, 'connect');
    socket.write(head?.bytes ?? '');
    return client;
  }

  connect(port: number): GoStream {
    const id = this.#streams.size + 1;
    let received = '';
    let error: string | undefined;
    let changed = (): void => undefined;
    this.#streams.set(id, {
      frame: ({ type, body }) => {
        if (type === MESSAGE.data) received += body.toString('latin1');
        if (type === MESSAGE.error) error = body.toString();
        changed();
      },
    });
    const { connect: message, data } = this.#recorded;
    const address = /tcp\/localhost:\d+$/.exec(message.toString('latin1'))?.index;
    this.#send(id, message.subarray(0, address), `tcp/localhost:${port}`);
    return {
      get error() {
        return error;
      },
      echo: (text) =>
        new Promise((resolve, reject) => {
          received = '';
          changed = () => {
            if (received.length >= text.length) resolve(received);
            else if (error !== undefined) reject(new Error(error));
          };
          changed();
          this.#send(id, data.subarray(0, data.indexOf('hello tunnel')), text);
        }),
    };
  }

  [Symbol.dispose](): void {
    this.#socket.destroy();
  }

  /** @param recorded - The start of a recorded message: number of the message, number of the stream, type and deadline. */
  #send(stream: number, recorded: Buffer, body: string): void {
    const [messageId, streamId] = [
      endOfNumber(recorded, 0),
      endOfNumber(recorded, endOfNumber(recorded, 0)),
    ];
    const payload = Buffer.concat([
      recorded.subarray(0, messageId),
      writeNumber(stream),
      recorded.subarray(streamId),
      Buffer.from(body),
    ]);
    const header = Buffer.from([FINAL_BINARY, MASKED | TWO_BYTES, 0, 0]);
    header.writeUInt16BE(payload.length, 2);
    this.#socket.write(Buffer.concat([header, ZERO_MASK, payload]));
  }
}

function recordedFrames(): TunnelFrame[] {
  const file = path.join(ROOT, 'libs/tcp-tunnel/src/fixtures/remotedialer-0.5.0.json');
  const entries = JSON.parse(readFileSync(file, 'utf8')) as { from: string; hex: string }[];
  const sent = entries.filter(({ from }) => from === 'client');
  return new TunnelFrames().add(Buffer.concat(sent.map(({ hex }) => Buffer.from(hex, 'hex'))));
}

function endOfNumber(message: Buffer, at: number): number {
  let end = at;
  while ((message[end] ?? 0) > 127) end += 1;
  return end + 1;
}

/** Writes a positive number as Go does: a varint whose lowest bit is the sign. */
function writeNumber(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value * 2;
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) + 128);
  return Buffer.from([...bytes, rest]);
}
