/** Every way in which this library fails; callers switch on it. */
export type TunnelErrorCode =
  | 'invalid-option'
  | 'invalid-port'
  | 'websocket-not-open'
  | 'draining'
  | 'too-many-channels'
  | 'aborted'
  | 'session-ended'
  | 'protocol-violation'
  | 'send-overflow'
  | 'peer-silent'
  | 'carrier-failed'
  | 'channel-reset'
  | 'channel-forgotten'
  | 'receive-overflow'
  | 'dial-refused'
  | 'dial-timeout'
  | 'dial-failed'
  | 'address-in-use'
  | 'address-denied'
  | 'listen-failed';

/** What a failure was about, as data; only the fields that apply are present. */
export interface TunnelErrorFields {
  readonly cause?: unknown;
  /** The TCP port that was dialled or listened on. */
  readonly port?: number;
  /** The connection id of the channel that failed. */
  readonly channel?: number | bigint;
}

/** The one error class of this library: a `code` to switch on, fields, and the cause it came from. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
  readonly code: TunnelErrorCode;
  readonly port: number | undefined;
  readonly channel: number | bigint | undefined;

  constructor(code: TunnelErrorCode, message: string, fields: TunnelErrorFields = {}) {
    super(message, 'cause' in fields ? { cause: fields.cause } : undefined);
    this.code = code;
    this.port = fields.port;
    this.channel = fields.channel;
  }
}
