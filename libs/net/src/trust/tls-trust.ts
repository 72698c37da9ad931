import { isIP } from 'node:net';
import tls from 'node:tls';

/**
 * Certificates of servers that are trusted, and the one that servers get. Its TLS context is made once: a caller with many requests keeps the object.
 */
export interface TlsTrust {
  /**
   * PEM of authorities. A certificate is believed that one of them has signed, or that is among them itself, whether or not another one has
   * signed that one: as in Go. `anyCertificate` proves nothing about who a server is.
   */
  readonly roots: readonly (string | Buffer)[] | 'anyCertificate';
  /** PEM that is shown to a server that asks for it. */
  readonly clientCertificate?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** The name that the certificate must have; it is sent to the server. Default: the host of its address. */
  readonly serverName?: string;
}

/** Contexts by trust: creating one parses all of its authorities, which takes milliseconds for those of a system. */
const contexts = new WeakMap<TlsTrust, tls.SecureContext>();

/** Options of `tls.connect` for a server. @throws Error of Node where PEM cannot be read. */
export function tlsOptions(trust: TlsTrust, host: string): tls.ConnectionOptions {
  return {
    host,
    // A server is not told an address as its name.
    servername: trust.serverName ?? (isIP(host) === 0 ? host : ''),
    ALPNProtocols: ['http/1.1'],
    rejectUnauthorized: trust.roots !== 'anyCertificate',
    secureContext: contextOf(trust),
  };
}

function contextOf(trust: TlsTrust): tls.SecureContext {
  const { roots, clientCertificate } = trust;
  const known = contexts.get(trust);
  if (known !== undefined) return known;
  const context = tls.createSecureContext({
    minVersion: 'TLSv1.2',
    ...clientCertificate,
    // An authority in the list is trusted also when another one has signed it.
    ...(roots !== 'anyCertificate' && { ca: [...roots], allowPartialTrustChain: true }),
  });
  contexts.set(trust, context);
  return context;
}
