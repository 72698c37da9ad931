import { createHash, X509Certificate } from 'node:crypto';
import { quoteText } from '@wins/base';

/** A parsed X.509 certificate in both encodings. */
export interface Certificate {
  /** In lines of 64 characters, without surrounding text. */
  readonly pem: string;
  readonly der: Buffer;
  /** In one line, with invisible characters escaped. */
  readonly subject: string;
  /** Digest of `der`, in lower-case hex. */
  readonly sha256: string;
  readonly notAfter: Date;
}

/** Certificates of a PEM text. Blocks of other kinds, such as private keys, are omitted. */
export interface FoundCertificates {
  readonly certificates: readonly Certificate[];
  /** One per omitted block, without its content. After ten warnings, a last one counts the other omitted blocks. */
  readonly warnings: readonly string[];
}

/** Limits the log lines that one text can cause. */
const MAX_WARNINGS = 10;
const LABELS = new Set(['CERTIFICATE', 'X509 CERTIFICATE']);

/** Returns only certificates, so that no private key reaches a file or a server. Warns of all other blocks, which Go omits silently. */
export function readCertificates(text: string, from: string): FoundCertificates {
  const certificates = new Map<string, Certificate>();
  const warnings: string[] = [];
  for (const [index, block] of readPemBlocks(text).entries()) {
    const found = readBlock(block);
    if (typeof found === 'string')
      warnings.push(`ignoring block ${index + 1} of ${from}: found ${found}`);
    else certificates.set(found.sha256, certificates.get(found.sha256) ?? found);
  }
  const more = warnings.length - MAX_WARNINGS;
  if (more > 0) warnings.splice(MAX_WARNINGS, more, `ignoring ${more} more blocks of ${from}`);
  return { certificates: [...certificates.values()], warnings };
}

function readBlock({ label, bytes }: PemBlock): Certificate | string {
  if (label.endsWith('PRIVATE KEY'))
    return 'a private key, which every reader of this text now knows: replace it';
  if (!LABELS.has(label)) return quoteText(label);
  if (bytes === undefined) return 'a certificate that is truncated or not base64';
  let certificate: X509Certificate;
  try {
    certificate = new X509Certificate(bytes);
  } catch {
    return 'a certificate that cannot be read';
  }
  const { raw: der } = certificate;
  return {
    pem: pemOf(der),
    der,
    subject: quoteText(certificate.subject.replace(/\n/g, ', ')),
    sha256: createHash('sha256').update(der).digest('hex'),
    notAfter: new Date(certificate.validTo),
  };
}

function pemOf(bytes: Buffer): string {
  const lines = bytes.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

export interface PemBlock {
  readonly label: string;
  /** Undefined for invalid base64 or a missing end line. */
  readonly bytes: Buffer | undefined;
}

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** Reads PEM (RFC 7468) in linear time, and skips other text. */
export function readPemBlocks(text: string): readonly PemBlock[] {
  const blocks: PemBlock[] = [];
  let open: { label: string; base64: string } | undefined;
  const cutOff = (): void => {
    if (open !== undefined) blocks.push({ label: open.label, bytes: undefined });
    open = undefined;
  };
  for (const piece of text.split(/(-----(?:BEGIN|END) [A-Z0-9 #]{1,64}-----)/)) {
    const [, kind, label = ''] = /^-----(BEGIN|END) (.*)-----$/.exec(piece) ?? [];
    if (kind === undefined) {
      if (open !== undefined) open.base64 += piece.replace(/\s+/g, '');
    } else if (kind === 'BEGIN') {
      cutOff();
      open = { label, base64: '' };
    } else if (open?.label === label) {
      const { base64 } = open;
      const isWhole = BASE64.test(base64) && base64.length % 4 === 0;
      blocks.push({ label, bytes: isWhole ? Buffer.from(base64, 'base64') : undefined });
      open = undefined;
    } else cutOff();
  }
  cutOff();
  return blocks;
}
