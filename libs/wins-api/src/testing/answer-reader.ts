import http2 from 'node:http2';
import { Duplex } from 'node:stream';

export interface Answer {
  /** gRPC status, or -1 for none. */
  readonly status: number;
  readonly message: string;
  readonly body: Buffer;
}

/**
 * Decodes the output of a server with Node's HTTP/2 client, so that the decoder is not our own code. The client takes
 * the bytes as answers to its own requests.
 */
export class AnswerReader {
  readonly answers = new Map<number, Answer>();
  readonly #arrived: (() => void)[] = [];

  constructor(streams: readonly number[]) {
    const silent = new Duplex({
      read: () => undefined,
      write: (_chunk, _encoding, done) => done(),
    });
    this.#silent = silent;
    this.#session = http2.connect('http://localhost', { createConnection: () => silent });
    this.#session.on('error', () => undefined);
    for (let id = 1; id <= Math.max(...streams); id += 2) this.#request(id);
  }

  readonly #silent: Duplex;
  readonly #session: http2.ClientHttp2Session;

  feed(chunk: Buffer): void {
    this.#silent.push(chunk);
  }

  async ended(id: number): Promise<Answer> {
    for (;;) {
      const answer = this.answers.get(id);
      if (answer !== undefined) return answer;
      await new Promise<void>((resolve) => this.#arrived.push(resolve));
    }
  }

  close(): void {
    this.#session.destroy();
    this.#silent.destroy();
  }

  #request(id: number): void {
    const stream = this.#session.request({ ':method': 'POST', ':path': '/' }, { endStream: true });
    const body: Buffer[] = [];
    const trailers: http2.IncomingHttpHeaders = {};
    // The status of a call without messages is among the first headers.
    stream.on('response', (headers) => Object.assign(trailers, headers));
    stream.on('trailers', (headers: http2.IncomingHttpHeaders) => Object.assign(trailers, headers));
    stream.on('data', (chunk: Buffer) => body.push(chunk));
    stream.on('error', () => undefined);
    stream.on('close', () => {
      this.answers.set(id, {
        status: Number(trailers['grpc-status'] ?? -1),
        message: decodeURIComponent(String(trailers['grpc-message'] ?? '')),
        body: Buffer.concat(body),
      });
      for (const tell of this.#arrived.splice(0)) tell();
    });
  }
}

export function messagesOf(body: Buffer): Buffer[] {
  const messages: Buffer[] = [];
  for (let at = 0; at < body.length;) {
    const length = body.readUInt32BE(at + 1);
    messages.push(body.subarray(at + 5, at + 5 + length));
    at += 5 + length;
  }
  return messages;
}
