/** HTTP/2 error codes (RFC 9113, section 7) that this library uses. */
export const HTTP2_CODE = {
  noError: 0,
  protocolError: 1,
  internalError: 2,
  flowControlError: 3,
  settingsTimeout: 4,
  streamClosed: 5,
  frameSizeError: 6,
  refusedStream: 7,
  cancel: 8,
  compressionError: 9,
  enhanceYourCalm: 11,
} as const;

/** Reasons for the end of a connection, with the HTTP/2 code for the client. */
export const END_REASONS = {
  /** The client closed the connection, or the socket failed. */
  clientGone: HTTP2_CODE.noError,
  closed: HTTP2_CODE.noError,
  idle: HTTP2_CODE.noError,

  /** The application threw while it handled input from the client. */
  failed: HTTP2_CODE.internalError,

  handshakeTimeout: HTTP2_CODE.protocolError,
  settingsTimeout: HTTP2_CODE.settingsTimeout,
  pingTimeout: HTTP2_CODE.noError,

  notHttp2: HTTP2_CODE.protocolError,
  noSettings: HTTP2_CODE.protocolError,
  frameSize: HTTP2_CODE.frameSizeError,
  badFrame: HTTP2_CODE.protocolError,
  badSetting: HTTP2_CODE.protocolError,
  badStreamId: HTTP2_CODE.protocolError,
  badHeaderBlock: HTTP2_CODE.compressionError,
  pushPromise: HTTP2_CODE.protocolError,
  frameOnIdleStream: HTTP2_CODE.protocolError,
  frameAfterEnd: HTTP2_CODE.streamClosed,
  windowExceeded: HTTP2_CODE.flowControlError,

  headersTooLarge: HTTP2_CODE.enhanceYourCalm,
  tooManyHeaderOctets: HTTP2_CODE.enhanceYourCalm,
  tooManyFramesPerMessage: HTTP2_CODE.enhanceYourCalm,
  tooManyResets: HTTP2_CODE.enhanceYourCalm,
  tooManyPings: HTTP2_CODE.enhanceYourCalm,
  tooManySettings: HTTP2_CODE.enhanceYourCalm,
  tooManyWindowUpdates: HTTP2_CODE.enhanceYourCalm,
  tooManyIgnoredFrames: HTTP2_CODE.enhanceYourCalm,
  /** Messages that are incomplete or not yet read exceed the memory limit of the connection. */
  tooMuchUnfinished: HTTP2_CODE.enhanceYourCalm,
  /** The client does not read, and the output that waits for it exceeds the limit of the connection. */
  notReading: HTTP2_CODE.enhanceYourCalm,
  /** All connections together exceed a limit, and this one uses the most. */
  mostHeld: HTTP2_CODE.enhanceYourCalm,
} as const;

/** Why a connection ended. A closed list, so that a reason can be a metric label. */
export type EndReason = keyof typeof END_REASONS;

export function http2CodeOf(reason: EndReason): number {
  return END_REASONS[reason];
}

/** Thrown to end the connection; caught where input is read. */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
  constructor(readonly reason: EndReason) {
    super(`the connection must end: ${reason}`);
  }
}
