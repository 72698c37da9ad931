/*
 * OpenSSL takes one authority for each name and refuses the server if that one has not signed; Go tries each. So a bundle
 * [old, new] of two authorities of one name may fail. Here a refused connection is opened again with only the authorities
 * that have signed. They only narrow the trust: OpenSSL still verifies the server.
 */
import { once } from 'node:events';
import type { X509Certificate } from 'node:crypto';
import type { ConnectionOptions, TLSSocket } from 'node:tls';
import { errnoOf } from '@wins/base';
import { authoritiesOf, chainOf, signersOfChain } from './signers-of-chain.js';
import { tlsOptions, type TlsTrust } from './tls-trust.js';

export interface Opening<T> {
  /** Opens a new connection with these options. @throws RefusedCertificate, and other errors. */
  readonly open: (options: ConnectionOptions) => Promise<T>;
  /** Opens a connection that is not verified. Nothing is sent over it: it only shows the certificates of the server. */
  readonly examine: (options: ConnectionOptions) => Promise<TLSSocket>;
}

/** Made by {@link refusalOf}. The cause is Node's error. */
export class RefusedCertificate extends Error {
  override readonly name = 'RefusedCertificate';
}

interface Known {
  authorities?: readonly X509Certificate[];
  /** By host and port: the part of the authorities that has verified the server. */
  readonly narrowed: Map<string, TlsTrust>;
}

/** Lives as long as the trust. */
const known = new WeakMap<TlsTrust, Known>();
/** Limits memory. Only verified servers count. */
const MAX_SERVERS = 32;
/** Limits the connections that a server can cause. A chain is rarely longer. */
const MAX_SETS = 4;

/**
 * Opens a connection to a server that `trust` verifies. Costs nothing more if OpenSSL verifies the server at once, or if this
 * server was verified before. Otherwise examines the chain once, and tries each set of {@link signersOfChain}.
 *
 * @throws The error of Node for a refused certificate, other errors of `open`.
 */
export async function openVerified<T>(
  trust: TlsTrust,
  { host, port }: { readonly host: string; readonly port: number },
  opening: Opening<T>,
): Promise<T> {
  const server = `${host}:${port}`;
  const its = known.get(trust) ?? { narrowed: new Map<string, TlsTrust>() };
  known.set(trust, its);
  const before = its.narrowed.get(server);
  const opened = before && (await unlessRefused(opening.open(tlsOptions(before, host))));
  if (opened !== undefined && 'value' in opened) return opened.value;
  its.narrowed.delete(server);

  const first = await unlessRefused(opening.open(tlsOptions(trust, host)));
  if ('value' in first) return first.value;
  const { roots } = trust;
  if (roots === 'anyCertificate') throw first.refusal;
  its.authorities ??= authoritiesOf(roots);
  if (its.authorities.length < 2) throw first.refusal;
  // Without a chain, the first refusal stays the reason.
  const chain = await examined(opening, trust, host).catch(() => []);
  let refusal: unknown;
  for (const set of signersOfChain(chain, its.authorities).slice(0, MAX_SETS)) {
    const narrowed: TlsTrust = { ...trust, roots: set.map((one) => one.toString()) };
    const next = await unlessRefused(opening.open(tlsOptions(narrowed, host)));
    if ('value' in next) {
      const [oldest] = its.narrowed.keys();
      if (its.narrowed.size >= MAX_SERVERS && oldest !== undefined) its.narrowed.delete(oldest);
      its.narrowed.set(server, narrowed);
      return next.value;
    }
    // An authority that has signed says more, for example that it has expired.
    refusal ??= next.refusal;
  }
  throw refusal ?? first.refusal;
}

/** Waits until Node has verified the server. @throws RefusedCertificate, and errors of the connection. */
export async function handshake(socket: TLSSocket): Promise<TLSSocket> {
  try {
    await once(socket, 'secureConnect');
    return socket;
  } catch (error) {
    throw refusalOf(socket, error);
  }
}

/** Returns `error` unchanged if the chain is not at fault, as for a name that the certificate lacks. */
export function refusalOf(socket: TLSSocket, error: unknown): unknown {
  // The types of Node lack the null of a connection that failed for another reason.
  const { authorizationError }: { authorizationError: unknown } = socket;
  const isName = errnoOf(error) === 'ERR_TLS_CERT_ALTNAME_INVALID';
  if (!authorizationError || isName) return error;
  return new RefusedCertificate('refused', { cause: error });
}

async function unlessRefused<T>(
  opening: Promise<T>,
): Promise<{ readonly value: T } | { readonly refusal: unknown }> {
  try {
    return { value: await opening };
  } catch (error) {
    if (error instanceof RefusedCertificate) return { refusal: error.cause };
    throw error;
  }
}

async function examined<T>({ examine }: Opening<T>, trust: TlsTrust, host: string) {
  // Without authorities, because Node would append some to the chain.
  const options = tlsOptions({ ...trust, roots: [] }, host);
  const socket = await examine({ ...options, rejectUnauthorized: false });
  try {
    return chainOf(socket.getPeerCertificate(true));
  } finally {
    socket.destroy();
  }
}
