import { Duplex } from 'node:stream';
import { Deadline } from './deadline.js';
import { LIMITS, type Http2Limits } from './connection-limits.js';
import { HTTP2_CODE } from './end-reason.js';
import { FLAG, type Frame } from './frame.js';
import { withoutPadding } from './header-block.js';
import { MESSAGE_OVERHEAD_OCTETS, MessageGatherer, type Refusal } from './message-gatherer.js';
import type { SegmentPool } from './segment-pool.js';

/** Headers of an answer, as handlers write them. */
export type AnswerHeaders = Readonly<
  Record<string, string | number | readonly string[] | undefined>
>;

/** Address of the peer, as handlers expect it. */
export interface PeerAddress {
  readonly remoteAddress: string;
  readonly remotePort: number;
}

export interface StreamLink {
  readonly limits: Http2Limits;
  readonly segments: SegmentPool;
  readonly peer: PeerAddress;
  sendHeaders(stream: Http2Stream, headers: AnswerHeaders, endStream: boolean): void;
  wantsToSend(stream: Http2Stream): void;
  /** The waiting output grew or shrank by `octets`; `extra` is the part beyond `freeOctetsPerStream`. */
  waits(octets: number, extra: number): void;
  /** The memory of request messages grew or shrank by `octets`. */
  holds(octets: number): void;
  consumed(stream: Http2Stream, octets: number): void;
  answered(stream: Http2Stream): void;
  reset(stream: Http2Stream, code: number): void;
  /** Resets the stream because the client made an error. It counts as a reset by the client. @throws ConnectionFault `tooManyResets` */
  resetFor(stream: Http2Stream, code: number): void;
}

const DEADLINE_EXCEEDED = 4;
const INTERNAL = 13;

export class Http2Stream extends Duplex {
  rstCode = 0;
  aborted = false;
  headersSent = false;
  readonly session: { readonly socket: PeerAddress };
  state: 'open' | 'halfClosedRemote' = 'open';
  receiveWindow: number;
  sendWindow: number;
  /** Octets that the handler has read, but that were not yet returned to the client's window. */
  unreturned = 0;
  requestOctets = 0;
  answerOctets = 0;
  lastHeaders: AnswerHeaders | undefined;

  readonly #gatherer: MessageGatherer;
  readonly #requestDeadline: Deadline;
  readonly #ready: Buffer[] = [];
  /** Memory of the messages in `#ready`. */
  #readyOctets = 0;
  /** Memory of the whole request, as last reported to the connection. */
  #held = 0;
  #isWanted = false;
  #isOver = false;
  #waitForTrailers = false;
  #outbox: Buffer | undefined;
  #outboxAt = 0;
  #written: () => void = () => undefined;

  readonly #link: StreamLink;
  readonly #hasOneRequest: boolean;
  readonly #headerOctets: number;
  readonly #contentLength: number | undefined;

  constructor(
    readonly id: number,
    link: StreamLink,
    windows: { readonly receive: number; readonly send: number },
    request: {
      readonly hasOneRequest: boolean;
      readonly headerOctets: number;
      /** Required octets of DATA in the request; undefined for any number. */
      readonly contentLength: number | undefined;
    },
  ) {
    super({ readableObjectMode: true, readableHighWaterMark: 1, autoDestroy: false });
    this.#link = link;
    this.#hasOneRequest = request.hasOneRequest;
    this.#headerOctets = request.headerOctets;
    this.#contentLength = request.contentLength;
    this.session = { socket: link.peer };
    this.receiveWindow = windows.receive;
    this.sendWindow = windows.send;
    this.#gatherer = new MessageGatherer(link.segments);
    const { requestMs } = link.limits;
    this.#requestDeadline = new Deadline(requestMs, () => {
      const message = `the request is not complete after ${requestMs} ms`;
      this.refuse({ status: DEADLINE_EXCEEDED, message });
    });
    if (request.hasOneRequest) this.#requestDeadline.start();
  }

  /** Called after the connection has registered the stream. */
  begin(): void {
    this.#count();
  }

  respond(
    headers: AnswerHeaders,
    options: { readonly endStream?: boolean; readonly waitForTrailers?: boolean } = {},
  ): void {
    if (this.#isOver) return;
    this.headersSent = true;
    this.#waitForTrailers = options.waitForTrailers ?? false;
    this.#link.sendHeaders(this, headers, options.endStream ?? false);
    if (options.endStream !== true) return;
    this.lastHeaders = headers;
    this.#link.answered(this);
  }

  sendTrailers(headers: AnswerHeaders): void {
    if (this.#isOver) return;
    this.#link.sendHeaders(this, headers, true);
    this.lastHeaders = headers;
    this.#link.answered(this);
  }

  close(code: number = HTTP2_CODE.noError): void {
    if (!this.#isOver) this.#link.reset(this, code);
  }

  refuse({ status, message, headers }: Refusal): void {
    const answer = { ...headers, 'grpc-status': status, 'grpc-message': encodeURI(message) };
    const type = { ':status': '200', 'content-type': 'application/grpc+proto' };
    if (!this.headersSent) this.respond({ ...type, ...answer }, { endStream: true });
    else if (this.waiting === 0) this.sendTrailers(answer);
    else this.close(HTTP2_CODE.cancel);
  }

  /** @throws ConnectionFault */
  receive(frame: Frame): void {
    const data = withoutPadding(frame);
    const padding = frame.payload.length - data.length;
    this.requestOctets += data.length;
    if (this.requestOctets > (this.#contentLength ?? Infinity)) {
      this.#link.resetFor(this, HTTP2_CODE.protocolError);
      return;
    }
    if (padding > 0) this.#link.consumed(this, padding);
    const refusal = this.#gatherer.take(data, (message) => {
      this.#ready.push(message);
      this.#readyOctets += message.length + MESSAGE_OVERHEAD_OCTETS;
    });
    if (refusal !== undefined) {
      this.refuse(refusal);
      return;
    }
    this.#count();
    if (this.#isOver) return;
    if ((frame.flags & FLAG.endStream) !== 0) {
      this.endRequest();
    } else if (!this.#hasOneRequest) {
      if (this.#gatherer.isUnfinished) this.#requestDeadline.continue();
      else this.#requestDeadline.stop();
    }
    this.#deliver();
  }

  /** @throws ConnectionFault */
  endRequest(): void {
    this.#requestDeadline.stop();
    if (this.requestOctets !== (this.#contentLength ?? this.requestOctets)) {
      this.#link.resetFor(this, HTTP2_CODE.protocolError);
      return;
    }
    this.state = 'halfClosedRemote';
    if (this.#gatherer.isUnfinished) {
      this.refuse({ status: INTERNAL, message: 'the request ends within a message' });
    } else {
      this.#deliver();
    }
  }

  get waiting(): number {
    return this.#outbox === undefined ? 0 : this.#outbox.length - this.#outboxAt;
  }

  takeOutput(most: number): Buffer {
    const outbox = this.#outbox;
    if (outbox === undefined) return Buffer.alloc(0);
    const part = outbox.subarray(this.#outboxAt, this.#outboxAt + most);
    this.#outboxAt += part.length;
    this.answerOctets += part.length;
    if (this.#outboxAt === outbox.length) {
      this.#outbox = undefined;
      this.#link.waits(-part.length, -this.#extraOf(outbox));
    } else {
      this.#link.waits(-part.length, 0);
    }
    return part;
  }

  /** Called after the socket got the data of `takeOutput`. */
  outputTaken(): void {
    if (this.#outbox === undefined) this.#written();
  }

  /** Called after the connection has forgotten the stream. */
  over(code: number, aborted: boolean): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.rstCode = code;
    this.aborted = aborted;
    this.#requestDeadline.stop();
    this.#ready.length = 0;
    this.#gatherer.release();
    this.#link.holds(-this.#held);
    this.#held = 0;
    if (this.#outbox !== undefined) this.#link.waits(-this.waiting, -this.#extraOf(this.#outbox));
    this.#outbox = undefined;
    if (aborted) {
      this.emit('aborted');
      this.destroy();
    } else {
      // Wait until the write callback has returned. If the stream is destroyed earlier, Node creates an error, which takes
      // a tenth of the time of a small call.
      process.nextTick(() => this.destroy());
    }
  }

  override _read(): void {
    this.#isWanted = true;
    this.#deliver();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, written: () => void): void {
    if (this.#isOver || chunk.length === 0) {
      written();
      return;
    }
    this.#outbox = chunk;
    this.#outboxAt = 0;
    this.#written = written;
    this.#link.waits(chunk.length, this.#extraOf(chunk));
    this.#link.wantsToSend(this);
  }

  override _final(done: () => void): void {
    if (!this.#isOver) {
      if (this.#waitForTrailers) this.emit('wantTrailers');
      else this.sendTrailers({});
    }
    done();
  }

  override _destroy(_error: Error | null, done: () => void): void {
    this.close(HTTP2_CODE.cancel);
    done();
  }

  #extraOf(chunk: Buffer): number {
    return Math.max(0, chunk.length - LIMITS.freeOctetsPerStream);
  }

  #deliver(): void {
    if (!this.#isWanted || this.#isOver) return;
    const message = this.#ready.shift();
    if (message !== undefined) {
      this.#isWanted = false;
      this.#readyOctets -= message.length + MESSAGE_OVERHEAD_OCTETS;
      this.#link.consumed(this, message.length);
      this.#count();
      this.push(message);
    } else if (this.state === 'halfClosedRemote') {
      this.#isWanted = false;
      this.push(null);
    }
  }

  #count(): void {
    const held = this.#headerOctets + this.#gatherer.capacity + this.#readyOctets;
    const change = held - this.#held;
    this.#held = held;
    if (change !== 0) this.#link.holds(change);
  }
}
