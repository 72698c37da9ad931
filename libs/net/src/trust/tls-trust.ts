import { isIP } from 'node:net';
import tls from 'node:tls';

/**
 * Trusted server certificates, and the client certificate. The TLS context is cached per object, so a caller with many requests should
 * reuse the object.
 */
export interface TlsTrust {
  /**
   * PEM of trusted authorities. As in Go, a certificate is trusted if one of them signed it or if it is in the list itself, whether or not
   * another authority signed the listed one. `anyCertificate` does not verify the identity of a server.
   */
  readonly roots: readonly (string | Buffer)[] | 'anyCertificate';
  /** PEM of the client certificate, for servers that request one. */
  readonly clientCertificate?: { readonly cert: string | Buffer; readonly key: string | Buffer };
  /** Name that the certificate must have; also sent to the server. Default: the host of its address. */
  readonly serverName?: string;
}

/** TLS contexts by trust, because creating one parses all its authorities, which takes milliseconds for those of a system. */
const contexts = new WeakMap<TlsTrust, tls.SecureContext>();

/** Returns the options of `tls.connect` for a server. @throws Error of Node when PEM cannot be parsed. */
export function tlsOptions(trust: TlsTrust, host: string): tls.ConnectionOptions {
  return {
    host,
    // An IP address is not sent as server name.
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
    // Trust an authority in the list even when another one has signed it.
    ...(roots !== 'anyCertificate' && { ca: [...roots], allowPartialTrustChain: true }),
  });
  contexts.set(trust, context);
  return context;
}
