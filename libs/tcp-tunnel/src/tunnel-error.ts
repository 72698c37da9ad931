import type { RefusalRule } from './wire/refusal.js';

/** Every way in which this library fails; callers switch on it. */
export type TunnelErrorCode =
  | 'invalidOption'
  | 'invalidPort'
  | 'webSocketNotOpen'
  | 'unreachable'
  | 'draining'
  | 'tooManyStreams'
  | 'aborted'
  | 'sessionEnded'
  | 'protocolViolation'
  | 'sendOverflow'
  | 'peerSilent'
  | 'webSocketFailed'
  | 'streamReset'
  | 'streamForgotten'
  | 'receiveOverflow'
  | 'readerStopped'
  | 'streamIdle'
  | 'connectRefused'
  | 'dialRefused'
  | 'dialTimeout'
  | 'dialFailed'
  | 'addressInUse'
  | 'addressDenied'
  | 'listenFailed';

/** What a failure was about, as data; only the fields that apply are present. */
export interface TunnelErrorFields {
  readonly cause?: unknown;
  /** The TCP port that was dialled or listened on. */
  readonly port?: number;
  /** The connection id of the stream that failed. */
  readonly streamId?: number | bigint;
  /** The rule by which the peer refused the stream, where it named one that is known here. */
  readonly rule?: RefusalRule | undefined;
  /** What the peer said, at most 100 characters, with anything unprintable replaced. */
  readonly peerText?: string;
}

/** The one error class of this library: a `code` to switch on, fields, and the cause it came from. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
  readonly code: TunnelErrorCode;
  readonly port: number | undefined;
  readonly streamId: number | bigint | undefined;
  readonly rule: RefusalRule | undefined;
  readonly peerText: string | undefined;

  constructor(code: TunnelErrorCode, message: string, fields: TunnelErrorFields = {}) {
    super(message, 'cause' in fields ? { cause: fields.cause } : undefined);
    this.code = code;
    this.port = fields.port;
    this.streamId = fields.streamId;
    this.rule = fields.rule;
    this.peerText = fields.peerText;
  }
}
