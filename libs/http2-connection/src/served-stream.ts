import type { Duplex } from 'node:stream';
import type { AnswerHeaders, PeerAddress } from './http2-stream.js';
import type { Refusal } from './message-gatherer.js';

/**
 * One call as its handler sees it. Reading yields whole messages of the request; writing takes octets of the answer.
 * Has the parts of Node's `ServerHttp2Stream` that gRPC uses. Destroyed when both sides are done, or either resets it.
 */
export interface ServedStream extends Duplex {
  readonly id: number;
  readonly session: { readonly socket: PeerAddress };
  readonly headersSent: boolean;
  /** HTTP/2 code with which the stream ended; 0 for none. */
  readonly rstCode: number;
  /** Whether the stream ended before its answer was complete. */
  readonly aborted: boolean;
  /** Bytes of the request's body so far. */
  readonly requestOctets: number;
  /** Bytes of the answer's body so far. */
  readonly answerOctets: number;
  /** Trailers with `grpc-status`; undefined until the answer ends, and always for a reset stream. */
  readonly lastHeaders: AnswerHeaders | undefined;
  /** No effect after the end of the stream. */
  respond(
    headers: AnswerHeaders,
    options?: {
      readonly endStream?: boolean | undefined;
      readonly waitForTrailers?: boolean | undefined;
    },
  ): void;
  /** Call it after the `wantTrailers` event. */
  sendTrailers(headers: AnswerHeaders): void;
  /**
   * Answers with a gRPC status in place of the handler. Resets the stream if part of an answer still waits to be sent.
   */
  refuse(answer: Refusal): void;
  /** Resets the stream with an HTTP/2 code, by default 0 (no error). */
  close(code?: number): void;
}
