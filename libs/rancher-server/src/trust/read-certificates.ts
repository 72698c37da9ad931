import { createHash, X509Certificate } from 'node:crypto';
import { quoteText } from '@wins/wins-program';
import { readPemBlocks, type PemBlock } from './pem-blocks.js';
import type { CaCertificate } from './server-trust.js';

/** What a body of `/cacerts` holds. */
export interface FoundCertificates {
  /** Each once, in their order. */
  readonly certificates: readonly CaCertificate[];
  /** What was dropped, and why; nothing of it is repeated. */
  readonly warnings: readonly string[];
}

/** A text of any size has so many: each is a line of a log. */
const MAX_WARNINGS = 10;
const LABELS = new Set(['CERTIFICATE', 'X509 CERTIFICATE']);

/** Reads the certificates of a text, and drops everything else with a warning. */
export function readCertificates(text: string): FoundCertificates {
  const certificates = new Map<string, CaCertificate>();
  const warnings: string[] = [];
  for (const [index, block] of readPemBlocks(text).entries()) {
    const found = readBlock(block);
    if (typeof found === 'string')
      warnings.push(`cannot use block ${index + 1} of /cacerts: found ${found}; it is left out`);
    else certificates.set(found.sha256, certificates.get(found.sha256) ?? found);
  }
  const more = warnings.length - MAX_WARNINGS;
  if (more > 0)
    warnings.splice(MAX_WARNINGS, more, `and ${more} more blocks of /cacerts are left out`);
  return { certificates: [...certificates.values()], warnings };
}

function readBlock({ label, bytes }: PemBlock): CaCertificate | string {
  if (label.endsWith('PRIVATE KEY'))
    return 'a private key, which whoever asks this server can read; make a new one';
  if (!LABELS.has(label)) return quoteText(label);
  if (bytes === undefined) return 'a certificate that is cut off or no base64';
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(bytes);
  } catch {
    return 'a certificate that cannot be read';
  }
  const { raw } = certificate;
  return {
    pem: pemOf(raw),
    subject: quoteText(certificate.subject.replace(/\n/g, ', ')),
    sha256: createHash('sha256').update(raw).digest('hex'),
    notAfter: new Date(certificate.validTo),
  };
}

function pemOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}
