import { Duplex } from 'node:stream';
import { Deadline } from './deadline.js';
import type { Http2Limits } from './connection-limits.js';
import { HTTP2_CODE } from './end-reason.js';
import { FLAG, type Frame } from './frame.js';
import { withoutPadding } from './header-block.js';
import { MESSAGE_OVERHEAD_OCTETS, MessageGatherer, type Refusal } from './message-gatherer.js';
import type { SegmentPool } from './segment-pool.js';

/** Headers of an answer, as the handlers give them. */
export type AnswerHeaders = Readonly<
  Record<string, string | number | readonly string[] | undefined>
>;

/** Address of the peer in the form that handlers expect. */
export interface PeerAddress {
  readonly remoteAddress: string;
  readonly remotePort: number;
}

/** Services of the connection for one of its streams. */
export interface StreamLink {
  readonly limits: Http2Limits;
  readonly segments: SegmentPool;
  readonly peer: PeerAddress;
  sendHeaders(stream: Http2Stream, headers: AnswerHeaders, endStream: boolean): void;
  /** There is something to send. */
  wantsToSend(stream: Http2Stream): void;
  /** So many octets of an answer more, or less, wait for the client. `extra` is what of them counts for the connection. */
  waits(octets: number, extra: number): void;
  /** So many octets more, or less, are held for messages of requests. */
  holds(octets: number): void;
  /** A handler has taken so many octets. */
  consumed(stream: Http2Stream, octets: number): void;
  /** The answer is complete. */
  answered(stream: Http2Stream): void;
  /** Ends the stream before its time. */
  reset(stream: Http2Stream, code: number): void;
  /**
   * Ends the stream for a fault of its client. It counts as a reset by the client, which could
   * otherwise make the server begin and drop any number of calls.
   *
   * @throws ConnectionFault `tooManyResets`
   */
  resetFor(stream: Http2Stream, code: number): void;
}

const DEADLINE_EXCEEDED = 4;
const INTERNAL = 13;

/**
 * One call: gives out whole messages of the request, takes the octets of the answer. To its handler it looks like a
 * `ServerHttp2Stream` of Node, as far as gRPC knows one. It is destroyed when both sides are done, or either gives up.
 */
export class Http2Stream extends Duplex {
  /** The code with which the stream ended; 0 for none. */
  rstCode = 0;
  /** Whether the stream ended before its answer did. */
  aborted = false;
  headersSent = false;
  readonly session: { readonly socket: PeerAddress };
  state: 'open' | 'halfClosedRemote' = 'open';
  receiveWindow: number;
  sendWindow: number;
  /** Octets that the handler has taken and the client may send again. */
  unreturned = 0;
  /** Octets of messages that have come. */
  requestOctets = 0;
  /** Octets of messages that were sent. */
  answerOctets = 0;
  /** The headers that ended the answer, with its `grpc-status`; undefined as long as it has not ended, and for ever when the stream is reset. */
  lastHeaders: AnswerHeaders | undefined;

  readonly #gatherer: MessageGatherer;
  readonly #requestDeadline: Deadline;
  readonly #ready: Buffer[] = [];
  /** Octets of `ready`, and those that the connection counts for all that is held. */
  #readyOctets = 0;
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
      /** The method takes one message. */
      readonly hasOneRequest: boolean;
      /** Octets that the headers count for as long as the stream lives. */
      readonly headerOctets: number;
      /** Octets of DATA that the request must have; undefined for any number. */
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
    this.#gatherer = new MessageGatherer(link.limits, link.segments);
    const { requestMs } = link.limits;
    this.#requestDeadline = new Deadline(requestMs, () => {
      const message = `the request is not complete after ${requestMs} ms`;
      this.refuse({ status: DEADLINE_EXCEEDED, message });
    });
    if (request.hasOneRequest) this.#requestDeadline.start();
  }

  /** Counts what the stream itself takes. To be called once the connection knows it. */
  begin(): void {
    this.#count();
  }

  /** Sends the headers of the answer. Without effect on a stream that is over. */
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

  /** Sends the last headers of the answer, once `wantTrailers` was told. */
  sendTrailers(headers: AnswerHeaders): void {
    if (this.#isOver) return;
    this.#link.sendHeaders(this, headers, true);
    this.lastHeaders = headers;
    this.#link.answered(this);
  }

  /** Ends the stream before its time. */
  close(code: number = HTTP2_CODE.noError): void {
    if (!this.#isOver) this.#link.reset(this, code);
  }

  /** Answers with a status that no handler gave; resets a stream that is in the middle of its answer. */
  refuse({ status, message, headers }: Refusal): void {
    const answer = { ...headers, 'grpc-status': status, 'grpc-message': encodeURI(message) };
    const type = { ':status': '200', 'content-type': 'application/grpc+proto' };
    if (!this.headersSent) this.respond({ ...type, ...answer }, { endStream: true });
    else if (this.waiting === 0) this.sendTrailers(answer);
    else this.close(HTTP2_CODE.cancel);
  }

  /** Takes a DATA frame. @throws ConnectionFault */
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

  /** The client has said all. @throws ConnectionFault */
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

  /** Octets that wait to be sent. */
  get waiting(): number {
    return this.#outbox === undefined ? 0 : this.#outbox.length - this.#outboxAt;
  }

  /** Gives the next octets of the answer, at most so many; tells the writer once it is the last of what it gave. */
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

  /** To be called once what `takeOutput` gave is on its way. */
  outputTaken(): void {
    if (this.#outbox === undefined) this.#written();
  }

  /** The stream is over; the connection has forgotten it. */
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
      // A write whose stream is destroyed before its callback returns costs Node an error, which is a tenth of a small call.
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
    return Math.max(0, chunk.length - this.#link.limits.freeOctetsPerStream);
  }

  /** Gives a message to the reader, when one is there and wanted. */
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

  /** Tells the connection what this stream holds of its request. */
  #count(): void {
    const held = this.#headerOctets + this.#gatherer.capacity + this.#readyOctets;
    const change = held - this.#held;
    this.#held = held;
    if (change !== 0) this.#link.holds(change);
  }
}
