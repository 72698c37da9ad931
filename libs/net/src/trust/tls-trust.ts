import { isIP } from 'node:net';
import tls from 'node:tls';

/** Trusted authorities and the client's own certificate. Reuse the object, because its TLS context is cached. */
export interface TlsTrust {
  /**
   * PEM of trusted authorities. As in Go, a listed certificate is trusted whether or not another authority signed it.
   * `anyCertificate` does not verify the identity of a server.
   */
  readonly roots: readonly (string | Buffer)[] | 'anyCertificate';
  /** PEM of the client certificate, for servers that request one. */
  readonly clientCertificate?:
    | { readonly cert: string | Buffer; readonly key: string | Buffer }
    | undefined;
  /** Name that the certificate must have; also sent to the server. Default: the host of the address. */
  readonly serverName?: string | undefined;
}

/** Cache of TLS contexts: creating one parses all its authorities, which takes milliseconds. */
const contexts = new WeakMap<TlsTrust, tls.SecureContext>();

/** @throws Error from Node for invalid PEM. */
export function tlsOptions(trust: TlsTrust, host: string): tls.ConnectionOptions {
  return {
    host,
    // TLS does not allow an IP address as server name.
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
    ...(roots !== 'anyCertificate' && { ca: [...roots], allowPartialTrustChain: true }),
  });
  contexts.set(trust, context);
  return context;
}
