import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { errnoOf } from '@wins/base';
import type { Environment } from '../proxy/proxy-of.js';

/** In the order in which Go searches. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * Returns the PEM of the system's authorities. On Linux, as in Go: the file in `SSL_CERT_FILE`, else the first existing
 * bundle. Elsewhere: the system's store, if Node can read it (22.15 and later), else Node's built-in list, which lacks
 * authorities that an administrator added.
 */
export function systemRoots(environment: Environment = process.env): readonly string[] {
  if (process.platform === 'linux') {
    const named = environment['SSL_CERT_FILE'];
    for (const file of named ? [named] : BUNDLES) {
      const bundle = readIfThere(file);
      if (bundle !== undefined) return [bundle];
    }
    return named ? [] : tls.rootCertificates;
  }
  // The types of Node 20 lack this function.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'system') => string[] };
  return getCACertificates?.('system') ?? tls.rootCertificates;
}

/**
 * Like `systemRoots`, but outside Linux adds Node's built-in list, because Windows downloads a public authority only when
 * its own TLS first needs it.
 */
export function publicRoots(environment: Environment = process.env): readonly string[] {
  const roots = systemRoots(environment);
  if (process.platform === 'linux') return roots;
  return [...new Set([...roots, ...tls.rootCertificates])];
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (errnoOf(error) === 'ENOENT' || errnoOf(error) === 'EACCES') return undefined;
    throw error;
  }
}
