import { readFileSync } from 'node:fs';
import tls from 'node:tls';
import { errnoOf } from '@wins/base';
import type { Environment } from '../proxy/proxy-of.js';

/** Where distributions keep the authorities that they trust, in the order in which Go looks. */
const BUNDLES = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/pki/tls/cacert.pem',
  '/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/**
 * PEM of the authorities that the system trusts. On Linux those of the distribution: the first bundle that there is, or the file that
 * `SSL_CERT_FILE` names, as Go has it. Elsewhere the system's store, as far as Node can read it (22.15 and later); where neither is to
 * be had, the list that Node brings along, in which an authority that an administrator added is missing.
 *
 * @param environment - Default: that of the process.
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
  // Not in the types of Node 20.
  const { getCACertificates } = tls as { getCACertificates?: (type: 'system') => string[] };
  return getCACertificates?.('system') ?? tls.rootCertificates;
}

/**
 * PEM of the authorities of the system, and elsewhere than on Linux of the list that Node brings along too: Windows fetches the authority of a
 * public server when its own TLS first needs it, so that its store may lack one. For requests to servers of the internet.
 *
 * @param environment - Default: that of the process.
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
