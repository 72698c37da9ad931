import { X509Certificate } from 'node:crypto';
import type { DetailedPeerCertificate } from 'node:tls';
import { readPemBlocks } from '../pem/read-certificates.js';
import type { TlsTrust } from './tls-trust.js';

const LABELS = new Set(['CERTIFICATE', 'X509 CERTIFICATE']);
/** More than any server sends. */
const MAX_CHAIN = 16;

/** Omits blocks that are no certificate. */
export function authoritiesOf(roots: Exclude<TlsTrust['roots'], string>): X509Certificate[] {
  return roots
    .flatMap((pem) => readPemBlocks(pem.toString('latin1')))
    .flatMap(({ label, bytes }) => {
      if (!LABELS.has(label) || bytes === undefined) return [];
      try {
        return [new X509Certificate(bytes)];
      } catch {
        return [];
      }
    });
}

/** Returns the certificates that a server presented, from its own up. */
export function chainOf(presented: Partial<DetailedPeerCertificate>): readonly X509Certificate[] {
  const chain = new Map<string, X509Certificate>();
  for (let at: typeof presented | undefined = presented; at?.raw; at = at.issuerCertificate) {
    const certificate = new X509Certificate(at.raw);
    // A root refers to itself.
    if (chain.has(certificate.fingerprint256) || chain.size === MAX_CHAIN) break;
    chain.set(certificate.fingerprint256, certificate);
  }
  return [...chain.values()];
}

/**
 * Returns the sets of authorities of which OpenSSL might have tried another one of the same name: for each certificate of
 * the chain, from the server's own up, those whose key has signed it. Empty if OpenSSL had no choice, or none has signed.
 */
export function signersOfChain(
  chain: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): readonly (readonly X509Certificate[])[] {
  const issuers = authorities.filter((one) => chain.some((issued) => issued.checkIssued(one)));
  const sets = chain.map((issued) => issuers.filter((one) => hasSigned(one, issued)));
  const isSame = (one: readonly X509Certificate[], other: readonly X509Certificate[]) =>
    one.length === other.length && one.every((each) => other.includes(each));
  return sets.filter(
    (set, index) =>
      set.length > 0 &&
      set.length < issuers.length &&
      sets.findIndex((other) => isSame(other, set)) === index,
  );
}

function hasSigned(authority: X509Certificate, issued: X509Certificate): boolean {
  try {
    return issued.checkIssued(authority) && issued.verify(authority.publicKey);
  } catch {
    // A key that this OpenSSL cannot use.
    return false;
  }
}
