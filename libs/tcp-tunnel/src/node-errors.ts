import { errnoOf } from '@wins/wins-program';
import { TunnelError, type TunnelErrorCode } from './tunnel-error.js';

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

/** What Node's code means where it has no code of ours. */
const NODE_WORDS: Readonly<Record<string, string>> = {
  EADDRNOTAVAIL: 'no network adapter here has that address',
  EAFNOSUPPORT: 'this system has no addresses of that kind',
  EHOSTUNREACH: 'no route leads there',
  EMFILE: 'this process has no file descriptors left',
  ENETUNREACH: 'no route leads there',
  ENFILE: 'the system has no file descriptors left',
  ENOBUFS: 'the system has no memory left for it',
};

/** Translates the failure of a connection to a loopback port. */
export function dialError(port: number, cause: unknown): TunnelError {
  return translate(
    DIAL_CODES,
    'dialFailed',
    `cannot dial port ${port} of the loopback`,
    port,
    cause,
  );
}

/** Translates the failure to listen on an address. */
export function listenError(host: string, port: number, cause: unknown): TunnelError {
  return translate(
    LISTEN_CODES,
    'listenFailed',
    `cannot listen on ${host} port ${port}`,
    port,
    cause,
  );
}

/** Translates the failure to accept a connection on an address that is listened on. */
export function acceptError(host: string, port: number, cause: unknown): TunnelError {
  return translate({}, 'listenFailed', `cannot accept on ${host} port ${port}`, port, cause);
}

/** Translates the failure of an established TCP connection into the text for the peer, which says no more than the kind of failure. */
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
  const nodeCode = errnoOf(cause);
  const code = codes[nodeCode ?? ''] ?? otherwise;
  return new TunnelError(code, `${tried}: ${wordsOf(code, nodeCode)}`, { port, cause });
}

function wordsOf(code: TunnelErrorCode, nodeCode = 'failed'): string {
  return WORDS[code] ?? NODE_WORDS[nodeCode] ?? nodeCode;
}
