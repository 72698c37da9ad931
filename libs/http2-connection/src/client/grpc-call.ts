import { ConnectionFault, HTTP2_CODE } from '../end-reason.js';
import { FLAG, type Frame } from '../frame.js';
import { withoutPadding } from '../header-block.js';
import type { HeaderField } from '../hpack/static-table.js';
import {
  MESSAGE_HEADER_OCTETS,
  MessageGatherer,
  type GathererLimits,
} from '../message-gatherer.js';
import type { OutputStream } from '../output.js';
import { SegmentPool } from '../segment-pool.js';
import {
  headersByName,
  STATUS,
  statusOfHeaders,
  statusOfHttp,
  statusOfReset,
  type GrpcStatus,
} from './grpc-status.js';

/** How a call ended. */
export type GrpcOutcome =
  /** With status 0 and its one message. */
  | { readonly kind: 'answered'; readonly message: Buffer }
  /** With another status, of the server or of what was wrong with its answer. `trailers` are its last headers. */
  | ({
      readonly kind: 'failed';
      readonly trailers: ReadonlyMap<string, string>;
    } & GrpcStatus)
  /** The server has not begun with it, and never will; or it may be made again all the same. */
  | { readonly kind: 'notTaken'; readonly reason: string }
  /** The connection ended before the answer did: whether the server has done it nobody knows. */
  | { readonly kind: 'lost'; readonly reason: string };

/** What a call needs of its connection. */
export interface GrpcCallLink {
  readonly limits: GathererLimits;
  /** Sends what ends the request. */
  endRequest(call: GrpcCall): void;
  /** Octets of the answer were taken from the window. */
  consumed(call: GrpcCall, octets: number): void;
  /** The call is over; with a code the server is told to stop. */
  over(call: GrpcCall, resetCode?: number): void;
}

/** One call with one message each way: what has come of its answer, and what has to be sent of its request. */
export class GrpcCall implements OutputStream {
  receiveWindow = 0;
  sendWindow = 0;
  unreturned = 0;
  /** Whether the headers of the request are on their way. */
  hasBegun = false;
  /** Whether all of the request is on its way. */
  isSent = false;

  readonly #link: GrpcCallLink;
  readonly #gatherer: MessageGatherer;
  #done: ((outcome: GrpcOutcome) => void) | undefined;
  #request: Buffer;
  #httpStatus: string | undefined;
  #message: Buffer | undefined;
  #messages = 0;

  constructor(
    readonly id: number,
    link: GrpcCallLink,
    message: Buffer,
    done: (outcome: GrpcOutcome) => void,
  ) {
    this.#link = link;
    this.#gatherer = new MessageGatherer(link.limits, new SegmentPool());
    this.#done = done;
    this.#request = Buffer.allocUnsafe(MESSAGE_HEADER_OCTETS + message.length);
    this.#request[0] = 0;
    this.#request.writeUInt32BE(message.length, 1);
    message.copy(this.#request, MESSAGE_HEADER_OCTETS);
  }

  get waiting(): number {
    return this.#request.length;
  }

  takeOutput(most: number): Buffer {
    const part = this.#request.subarray(0, most);
    this.#request = this.#request.subarray(part.length);
    return part;
  }

  outputTaken(): void {
    if (this.waiting > 0) return;
    this.isSent = true;
    this.#link.endRequest(this);
  }

  /** Takes headers of the answer: the first, the last, or both at once. */
  takeHeaders(fields: readonly HeaderField[], endStream: boolean): void {
    const headers = headersByName(fields);
    if (this.#httpStatus === undefined) {
      const httpStatus = headers.get(':status') ?? '';
      if (/^1\d\d$/.test(httpStatus) && !endStream) return;
      this.#httpStatus = httpStatus;
      if (!endStream) {
        const type = headers.get('content-type') ?? '';
        if (httpStatus !== '200') this.#fail(statusOfHttp(httpStatus));
        else if (!/^application\/grpc(?:[+;]|$)/.test(type))
          this.#fail({
            status: STATUS.unknown,
            details: 'found another content-type; wanted application/grpc',
          });
        return;
      }
    } else if (!endStream) {
      this.#fail({ status: STATUS.internal, details: 'found headers within the answer' });
      return;
    }
    this.#end(headers);
  }

  /** Takes a DATA frame. @throws ConnectionFault `badFrame`, `tooManyFramesPerMessage` */
  takeData(frame: Frame): void {
    if (this.#httpStatus === undefined) throw new ConnectionFault('badFrame');
    this.#link.consumed(this, frame.payload.length);
    const refusal = this.#gatherer.take(withoutPadding(frame), (message) => {
      this.#messages += 1;
      this.#message = message.subarray(MESSAGE_HEADER_OCTETS);
    });
    if (refusal !== undefined) this.#fail({ status: refusal.status, details: refusal.message });
    else if (this.#messages > 1)
      this.#fail({
        status: STATUS.unimplemented,
        details: 'found more than one message; wanted one',
      });
    else if ((frame.flags & FLAG.endStream) !== 0) this.#end(new Map());
  }

  /** The server has reset the stream. */
  takeReset(code: number): void {
    if (code === HTTP2_CODE.refusedStream) this.over({ kind: 'notTaken', reason: 'refused' });
    else this.over({ kind: 'failed', ...statusOfReset(code), trailers: new Map() });
  }

  /** Ends the call, unless it has ended. */
  over(outcome: GrpcOutcome, resetCode?: number): void {
    const done = this.#done;
    if (done === undefined) return;
    this.#done = undefined;
    this.#gatherer.release();
    this.#link.over(this, resetCode);
    done(outcome);
  }

  #end(trailers: ReadonlyMap<string, string>): void {
    const { status, details } = statusOfHeaders(trailers) ?? statusOfHttp(this.#httpStatus ?? '');
    const resetCode = this.isSent ? undefined : HTTP2_CODE.noError;
    if (status !== STATUS.ok) {
      this.over({ kind: 'failed', status, details, trailers }, resetCode);
    } else if (this.#message === undefined || this.#gatherer.isUnfinished) {
      const found = this.#gatherer.isUnfinished ? 'half a message' : 'no message';
      const wrong = { status: STATUS.internal, details: `found ${found}; wanted one` };
      this.over({ kind: 'failed', ...wrong, trailers }, resetCode);
    } else {
      this.over({ kind: 'answered', message: this.#message }, resetCode);
    }
  }

  #fail(wrong: GrpcStatus): void {
    this.over({ kind: 'failed', ...wrong, trailers: new Map() }, HTTP2_CODE.cancel);
  }
}
