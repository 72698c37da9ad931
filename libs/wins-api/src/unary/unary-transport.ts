/** A call with one message each way, before it goes out. */
export interface UnaryRequest {
  /** `/package.Service/Method`. */
  readonly path: string;
  /** Metadata of the call, in characters that a header may have. */
  readonly headers: Readonly<Record<string, string>>;
  /** The encoded message. */
  readonly message: Buffer;
  /** Whether it changes nothing: it may go out before the daemon has spoken, and be `notTaken` although the daemon has it. */
  readonly isRepeatable: boolean;
}

/** How a call with one message each way ended. */
export type UnaryOutcome =
  /** With the status OK and this message. */
  | { readonly kind: 'answered'; readonly message: Buffer }
  /** With another status; `trailers` are the last headers of the answer. */
  | {
      readonly kind: 'failed';
      /** The number of a gRPC status. */
      readonly status: number;
      readonly details: string;
      readonly trailers: ReadonlyMap<string, string>;
    }
  /** The daemon has not begun with it and never will, for want of a connection or because it takes no calls; or the call is repeatable. */
  | { readonly kind: 'notTaken'; readonly reason: string; readonly cause?: unknown }
  /** The connection ended before the answer did. */
  | { readonly kind: 'lost'; readonly reason: string };

/** Carries calls with one message each way to a daemon: what `createUnaryClient` is given. Makes a connection for the first call, and another once it is lost. */
export interface UnaryTransport {
  /** Whether a call finds a connection on which the daemon has spoken. */
  isConnected(): boolean;
  /** Tells once, when there is such a connection; never when there will not be one. */
  onConnected(tell: () => void): void;
  /**
   * Makes a call; `done` is told once how it ended, also when that was by the function that this returns, which cancels it. A message
   * of an answer has at most 2 MiB.
   */
  call(request: UnaryRequest, done: (outcome: UnaryOutcome) => void): () => void;
  /** Ends all calls, and resolves when the connection is gone. After `graceMs` it is cut. */
  close(graceMs: number): Promise<void>;
}
