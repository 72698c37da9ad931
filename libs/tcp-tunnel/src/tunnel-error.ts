import { errnoOf } from '@wins/base';
import type { RefusalRule } from './wire/refusal.js';

const DIAL_CODES: Readonly<Record<string, TunnelErrorCode>> = {
  ECONNREFUSED: 'dialRefused',
  ETIMEDOUT: 'dialTimeout',
};
const LISTEN_CODES: Readonly<Record<string, TunnelErrorCode>> = {
  EADDRINUSE: 'addressInUse',
  EACCES: 'addressDenied',
};
const WORDS: Readonly<Partial<Record<TunnelErrorCode, string>>> = {
  dialRefused: 'nothing listens there',
  dialTimeout: 'no answer in time',
  addressInUse: 'another program listens there',
  addressDenied: 'this user may not listen there',
};

const NODE_WORDS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'no network adapter here has that address',
  EAFNOSUPPORT: 'this system has no addresses of that kind',
  EHOSTUNREACH: 'no route leads there',
  EMFILE: 'this process has no file descriptors left',
  ENETUNREACH: 'no route leads there',
  ENFILE: 'the system has no file descriptors left',
  ENOBUFS: 'the system has no memory left for it',
};

/** Translates a Node error to the reason why a port is unreachable. */
export function dialError(port: number, cause: unknown): TunnelError {
  return translate(DIAL_CODES, 'dialFailed', `cannot dial port ${port}`, port, cause);
}

/** Address, port and protocol on which a listener could not listen. */
export interface ListenTarget {
  readonly host: string;
  readonly port: number;
  readonly protocol: 'tcp' | 'udp';
}

/** Translates a Node error. On Windows a port is denied if it is reserved; elsewhere, if only root may use it. */
export function listenError(
  { host, port, protocol }: ListenTarget,
  cause: unknown,
  platform: NodeJS.Platform = process.platform,
): TunnelError {
  const tried = `cannot listen on ${host} port ${port}`;
  if (platform !== 'win32' || errnoOf(cause) !== 'EACCES')
    return translate(LISTEN_CODES, 'listenFailed', tried, port, cause);
  const family = host.includes(':') ? 'ipv6' : 'ipv4';
  const command = `netsh int ${family} show excludedportrange protocol=${protocol}`;
  const why = 'Windows reserves the port, or another program has exclusive use of it';
  const message = `${tried}: ${why}. "${command}" lists the reserved ranges`;
  return new TunnelError('addressDenied', message, { port, cause });
}

export function acceptError(host: string, port: number, cause: unknown): TunnelError {
  return translate({}, 'listenFailed', `cannot accept on ${host} port ${port}`, port, cause);
}

/** The peer gets the text of the error, so the text reveals only the kind of failure. */
export function socketError(cause: Error | undefined): TunnelError {
  const reset =
    cause === undefined || errnoOf(cause) === 'ECONNRESET' || errnoOf(cause) === 'EPIPE';
  const message = reset ? 'connection reset' : `connection failed (${errnoOf(cause) ?? 'unknown'})`;
  return new TunnelError('streamReset', message, cause === undefined ? {} : { cause });
}

function translate(
  codes: Readonly<Record<string, TunnelErrorCode>>,
  otherwise: TunnelErrorCode,
  tried: string,
  port: number,
  cause: unknown,
): TunnelError {
  const nodeCode = errnoOf(cause) ?? 'failed';
  const code = codes[nodeCode] ?? otherwise;
  const words = WORDS[code] ?? NODE_WORDS[nodeCode] ?? nodeCode;
  return new TunnelError(code, `${tried}: ${words}`, { port, cause });
}

/**
 * Reason of a failure. Of a call:
 *
 * - `invalidOption`, `invalidPort`: an option is out of its range; nothing was done.
 * - `webSocketNotOpen`: the given WebSocket is still connecting, or has ended.
 * - `unreachable`: no tunnel server answered on the pipe; `cause` says why.
 * - `draining`: the tunnel accepts no new streams.
 * - `tooManyStreams`: `maxStreams` are open; for a listener, its maximum number of connections.
 * - `aborted`: the caller's signal ended it; `cause` is its reason.
 *
 * Of a session, which it ends:
 *
 * - `sessionEnded`: the tunnel of this stream ended; `cause` says why if it failed.
 * - `protocolViolation`: the peer sent a message that the protocol does not have.
 * - `sendOverflow`: the peer does not read what this side sends.
 * - `peerSilent`: the peer sent nothing for a minute, or answered no ping after a request to connect.
 * - `webSocketFailed`: the WebSocket failed; `cause` says how.
 *
 * Of a stream:
 *
 * - `streamReset`: the peer reset it, and `peerText` is its text; or its connection failed, or the peer sent data after its end.
 * - `streamForgotten`: the peer does not know it any more.
 * - `receiveOverflow`: the peer sent more than a stream may buffer.
 * - `readerStopped`: its reader read nothing until the limit of idle streams.
 * - `streamIdle`: nothing passed until the limit of idle streams, or a newer stream took its place.
 *
 * Of the connection at the other end:
 *
 * - `connectRefused`: the peer's rules refuse the port; `rule` names the rule.
 * - `dialRefused`, `dialTimeout`, `dialFailed`: nothing listens at the port, nothing answers in time, or another reason.
 * - `noDatagrams`: the peer carries no UDP.
 *
 * Of a listener:
 *
 * - `addressInUse`, `addressDenied`, `listenFailed`: another program listens there, this user may not, or another reason.
 */
export type TunnelErrorCode =
  | (
      | 'invalidOption'
      | 'invalidPort'
      | 'webSocketNotOpen'
      | 'unreachable'
      | 'draining'
      | 'tooManyStreams'
      | 'aborted'
    )
  | ('sessionEnded' | 'protocolViolation' | 'sendOverflow' | 'peerSilent' | 'webSocketFailed')
  | ('streamReset' | 'streamForgotten' | 'receiveOverflow' | 'readerStopped' | 'streamIdle')
  | ('connectRefused' | 'dialRefused' | 'dialTimeout' | 'dialFailed')
  | 'noDatagrams'
  | ('addressInUse' | 'addressDenied' | 'listenFailed');

/** Details of a failure. Absent fields do not apply. */
export interface TunnelErrorDetails {
  readonly cause?: unknown;
  readonly port?: number | undefined;
  /** Id of the failed stream or flow. On the wire, it is the connection id. */
  readonly streamId?: number | bigint | undefined;
  /** Rule that the peer named when it refused the stream. */
  readonly rule?: RefusalRule | undefined;
  /** Text from the peer, at most 100 characters, with unprintable characters replaced. */
  readonly peerText?: string | undefined;
}

/** The only error class of this library. */
export class TunnelError extends Error {
  override readonly name = 'TunnelError';
  readonly code: TunnelErrorCode;
  readonly port: number | undefined;
  /** Id of the failed stream or flow. */
  readonly streamId: number | bigint | undefined;
  /** Rule that the peer named when it refused the stream. */
  readonly rule: RefusalRule | undefined;
  /** Text from the peer, at most 100 characters, with unprintable characters replaced. */
  readonly peerText: string | undefined;

  constructor(code: TunnelErrorCode, message: string, fields: TunnelErrorDetails = {}) {
    super(message, 'cause' in fields ? { cause: fields.cause } : undefined);
    this.code = code;
    this.port = fields.port;
    this.streamId = fields.streamId;
    this.rule = fields.rule;
    this.peerText = fields.peerText;
  }
}
