import { X509Certificate } from 'node:crypto';
import * as z from 'zod/mini';
import { about } from './notation.js';
import { list, matching, optional, required, section, shown, textWith } from './value-schemas.js';

/** Limits of a list, so that the search for a chain stays short. */
const MAX_ENTRIES = 16;
const MAX_CERTIFICATES = 16;

/** Object identifiers of key purposes. */
const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';

const THUMBPRINT = /^[0-9a-f]{64}$/i;
const BLOCK = /-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]*-----END CERTIFICATE-----/g;
const OBJECT_ID = /^[0-2](?:\.(?:0|[1-9][0-9]{0,15})){2,30}$/;
const EXPECTED = 'a SHA-256 thumbprint of 64 hexadecimal digits, or certificates as PEM';

/** The keys of `upgrade` about signatures. A misspelt one would let any program be accepted, so the section has `strictKeys`. */
export function signatureKeys() {
  return {
    signedBy: optional(
      certificateList(acceptedSigner()),
      'Certificates that sign upgrades, or authorities above them: SHA-256 thumbprints, or PEM. An upgrade accepts only programs with such a signature (Authenticode). By default any.',
      { shorthand: true, absent: 'any program', strictKeys: true },
    ),
    timestampedBy: optional(
      certificateList(shown(certificates(TIME_STAMPING, 'for timestamps'))),
      'Timestamp authorities, as in signedBy. Their timestamps keep a signature valid after its certificate has expired. By default timestamps do not count.',
      { shorthand: true, absent: 'none', strictKeys: true },
    ),
  };
}

function acceptedSigner() {
  return about(
    section({
      certificate: required(
        shown(certificates(CODE_SIGNING, 'for signing code')),
        'SHA-256 thumbprint of a certificate in the signed file, or certificates as PEM.',
      ),
      purpose: optional(
        shown(matching(OBJECT_ID, 'an object identifier such as 1.3.6.1.4.1.311.97.1')),
        "Object identifier of a key purpose (EKU) that the signer's certificate must have, for an authority with many customers.",
        { absent: 'code signing alone' },
      ),
    }),
    'A certificate that signs upgrades, or an authority above it: the certificate alone, or an object.',
    { shorthand: 'certificate', strictKeys: true, typeName: 'AcceptedSigner' },
  );
}

function certificateList<Item extends z.ZodMiniType>(item: Item) {
  return list(item, 'certificates').check(
    z.minLength(1, { error: 'at least one certificate' }),
    z.maxLength(MAX_ENTRIES, { error: `at most ${MAX_ENTRIES} entries` }),
  );
}

/** A thumbprint, or a PEM text whose certificates are authorities or have the purpose. */
function certificates(purpose: string, meaning: string) {
  const reason = (text: string) => refuseCertificates(text, purpose, meaning);
  const isFit = z.refine<string>((text) => reason(text) === undefined, {
    error: ({ input }) => reason(String(input)),
  });
  const inLowerCase = z.overwrite<string>((text) =>
    THUMBPRINT.test(text) ? text.toLowerCase() : text,
  );
  return textWith(EXPECTED, isFit, inLowerCase);
}

function refuseCertificates(text: string, purpose: string, meaning: string): string | undefined {
  if (THUMBPRINT.test(text)) return undefined;
  const blocks = certificatesIn(text);
  if (blocks.length === 0 || text.replace(BLOCK, '').includes('-----')) return EXPECTED;
  if (blocks.length > MAX_CERTIFICATES)
    return `at most ${MAX_CERTIFICATES} certificates in one text`;
  for (const [index, block] of blocks.entries()) {
    const which = blocks.length === 1 ? 'a certificate' : `certificate ${index + 1} to be one`;
    try {
      const { ca, keyUsage } = new X509Certificate(block);
      // Node's `keyUsage` is the extended key usage.
      const purposes = keyUsage as readonly string[] | undefined;
      if (!ca && purposes?.includes(purpose) !== true)
        return `${which} of an authority, or one ${meaning}`;
    } catch {
      return `${which} that is valid PEM`;
    }
  }
  return undefined;
}

/** Returns the PEM blocks of a text. */
export function certificatesIn(text: string): readonly string[] {
  return text.match(BLOCK) ?? [];
}
