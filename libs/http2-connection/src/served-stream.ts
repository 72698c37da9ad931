import type { Duplex } from 'node:stream';
import type { AnswerHeaders, PeerAddress } from './http2-stream.js';
import type { Refusal } from './message-gatherer.js';

/**
 * One call as its handler sees it. Reading gives whole messages of the request, writing takes octets of the answer. It has what gRPC
 * knows of a `ServerHttp2Stream` of Node, and is destroyed when both sides are done, or either gives up.
 */
export interface ServedStream extends Duplex {
  readonly id: number;
  readonly session: { readonly socket: PeerAddress };
  readonly headersSent: boolean;
  /** The code with which the stream ended; 0 for none. */
  readonly rstCode: number;
  /** Whether the stream ended before its answer did. */
  readonly aborted: boolean;
  /** Octets of messages that have come. */
  readonly requestOctets: number;
  /** Octets of messages that were sent. */
  readonly answerOctets: number;
  /** The headers that ended the answer, with its `grpc-status`; undefined as long as it has not ended, and for ever when the stream is reset. */
  readonly lastHeaders: AnswerHeaders | undefined;
  /** Sends the headers of the answer. Without effect on a stream that is over. */
  respond(
    headers: AnswerHeaders,
    options?: { readonly endStream?: boolean; readonly waitForTrailers?: boolean },
  ): void;
  /** Sends the last headers of the answer, once `wantTrailers` was told. */
  sendTrailers(headers: AnswerHeaders): void;
  /** Answers with a status that no handler gave; resets a stream that is in the middle of its answer. */
  refuse(answer: Refusal): void;
  /** Ends the stream before its time. */
  close(code?: number): void;
}
