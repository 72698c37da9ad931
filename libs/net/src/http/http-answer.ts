import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { NetError } from '../net-error.js';
import { quoteForeign } from './foreign-text.js';
import { hostAndPort } from './open-connection.js';
import type { RequestLifetime } from './request-lifetime.js';

/** Says which bodies to accept. A body above the limit is an error with the code `tooLarge`. */
export interface BodyOptions {
  /** Use `Infinity` only when the reader limits the size itself. */
  readonly maxBytes: number;
  /** Returns encoded bodies undecoded, for readers that check the digest. Default: false, which refuses encoded bodies. */
  readonly mayBeEncoded?: boolean | undefined;
}

/** An answer whose headers have arrived. The receiver closes the answer. */
export interface HttpAnswer extends Disposable {
  /** Address of the last request, after all redirects. */
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** `Content-Length`; undefined without one. */
  readonly declaredBytes: number | undefined;
  /** Reads the body in parts. @throws NetError `badShape`, `tooLarge`, `interrupted`, `timedOut`, `aborted`. */
  body(options: BodyOptions): AsyncGenerator<Buffer, void>;
  /** Reads the whole body. @throws NetError as `body`. */
  bytes(options: BodyOptions): Promise<Buffer>;
  /** Ends the answer early. Reading the body then fails with `cause`. */
  end(cause: NetError): void;
  /** If the answer was read completely, keeps the connection for the next request; otherwise closes it. */
  close(): void;
}

export interface AnswerParts {
  readonly url: URL;
  readonly response: IncomingMessage;
  readonly lifetime: RequestLifetime;
  readonly idleMs: number;
}

export class ReceivedAnswer implements HttpAnswer {
  readonly url: URL;
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly #parts: AnswerParts;

  constructor(parts: AnswerParts) {
    this.#parts = parts;
    this.url = parts.url;
    this.status = parts.response.statusCode ?? 0;
    this.headers = parts.response.headers;
  }

  get declaredBytes(): number | undefined {
    const text = this.headers['content-length'];
    return text === undefined ? undefined : Number(text);
  }

  async *body({ maxBytes, mayBeEncoded = false }: BodyOptions): AsyncGenerator<Buffer, void> {
    const { response, lifetime, idleMs } = this.#parts;
    const { what, secrets } = lifetime.facts;
    const peer = hostAndPort(this.url);
    const encoding = this.headers['content-encoding']?.trim().toLowerCase() ?? 'identity';
    if (encoding !== 'identity' && !mayBeEncoded) {
      const found = `found an answer encoded as ${quoteForeign(encoding, secrets)}`;
      throw new NetError('badShape', `cannot ${what}: ${found}; wanted no encoding`);
    }
    const tooLarge = (found: string) =>
      new NetError('tooLarge', `cannot ${what}: found ${found} bytes; wanted at most ${maxBytes}`);
    const declared = this.declaredBytes ?? 0;
    if (declared > maxBytes) throw tooLarge(`${declared}`);

    const parts = response[Symbol.asyncIterator]() as AsyncIterator<Buffer, undefined>;
    let sizeBytes = 0;
    for (;;) {
      let next: IteratorResult<Buffer, undefined>;
      try {
        next = await lifetime.within(idleMs, `${peer} sent nothing more`, () => parts.next());
      } catch (error) {
        throw lifetime.failure(error, 'answer', peer);
      }
      if (next.done === true) return;
      sizeBytes += next.value.length;
      if (sizeBytes > maxBytes) throw tooLarge(`more than ${maxBytes}`);
      yield next.value;
    }
  }

  async bytes(options: BodyOptions): Promise<Buffer> {
    const all: Buffer[] = [];
    for await (const part of this.body(options)) all.push(part);
    return Buffer.concat(all);
  }

  end(cause: NetError): void {
    this.#parts.lifetime.end(cause);
  }

  close(): void {
    this.#parts.lifetime.close();
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
