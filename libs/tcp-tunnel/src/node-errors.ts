import { errnoOf } from '@wins/wins-program';
import { TunnelError, type TunnelErrorCode } from './tunnel-error.js';

const DIAL_CODES: Readonly<Record<string, TunnelErrorCode>> = {
  ECONNREFUSED: 'dial-refused',
  ETIMEDOUT: 'dial-timeout',
};
const LISTEN_CODES: Readonly<Record<string, TunnelErrorCode>> = {
  EADDRINUSE: 'address-in-use',
  EACCES: 'address-denied',
};
const WORDS: Readonly<Partial<Record<TunnelErrorCode, string>>> = {
  'dial-refused': 'nothing listens there',
  'dial-timeout': 'no answer in time',
  'address-in-use': 'another program listens there',
  'address-denied': 'this user may not listen there',
};

/** Translates the failure of a connection to a loopback port. */
export function dialError(port: number, cause: unknown): TunnelError {
  return translate(DIAL_CODES, 'dial-failed', `dialled the loopback on port ${port}`, port, cause);
}

/** Translates the failure to listen on an address. */
export function listenError(host: string, port: number, cause: unknown): TunnelError {
  return translate(LISTEN_CODES, 'listen-failed', `listened on ${host} port ${port}`, port, cause);
}

/** Translates the failure to accept a connection on an address that is listened on. */
export function acceptError(host: string, port: number, cause: unknown): TunnelError {
  return translate({}, 'listen-failed', `accepted on ${host} port ${port}`, port, cause);
}

/** Translates the failure of an established TCP connection into what the peer is told: no more than its kind. */
export function socketError(cause: Error | undefined): TunnelError {
  const reset =
    cause === undefined || errnoOf(cause) === 'ECONNRESET' || errnoOf(cause) === 'EPIPE';
  const message = reset ? 'connection reset' : `connection failed (${errnoOf(cause) ?? 'unknown'})`;
  return new TunnelError('channel-reset', message, cause === undefined ? {} : { cause });
}

function translate(
  codes: Readonly<Record<string, TunnelErrorCode>>,
  otherwise: TunnelErrorCode,
  tried: string,
  port: number,
  cause: unknown,
): TunnelError {
  const nodeCode = errnoOf(cause);
  const code = codes[nodeCode ?? ''] ?? otherwise;
  return new TunnelError(code, `${tried}: ${WORDS[code] ?? nodeCode ?? 'failed'}`, { port, cause });
}
