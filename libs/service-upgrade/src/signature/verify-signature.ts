import { messageOf, quoteText } from '@wins/base';
import type { BaseBlock } from 'asn1js';
import { X509Certificate } from 'node:crypto';
import type { SignedContent } from './signed-content.js';

/** OIDs: Authenticode's SPC_INDIRECT_DATA and SPC_PE_IMAGE_DATA, and the key purpose of code signing. */
const INDIRECT_DATA = '1.3.6.1.4.1.311.2.1.4';
const PE_IMAGE_DATA = '1.3.6.1.4.1.311.2.1.15';
const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const SHA256 = '2.16.840.1.101.3.4.2.1';
const RSA_ENCRYPTION = '1.2.840.113549.1.1.1';
/**
 * OIDs of signature algorithms without known forgeries: RSA-PSS; RSA with SHA-256, SHA-384 or SHA-512; and ECDSA with
 * SHA-256, SHA-384 or SHA-512.
 */
const STRONG: ReadonlySet<string> = new Set([
  ...[10, 11, 12, 13].map((last) => `1.2.840.113549.1.1.${last}`),
  ...[2, 3, 4].map((last) => `1.2.840.10045.4.3.${last}`),
]);
const MAX_CERTIFICATES = 32;

/** `isStrong`: the certificate was itself signed with a strong algorithm. */
interface Found {
  readonly x509: X509Certificate;
  readonly isStrong: boolean;
}

/** Undefined when the signature is accepted. */
export async function refuseSignature(
  content: SignedContent,
  signedBy: readonly string[],
  now: Date,
): Promise<string | undefined> {
  const found = typeof content === 'string' ? content : await reasonAgainst(content, signedBy, now);
  if (found === undefined) return undefined;
  const wanted = `wanted a signature by ${signedBy.join(' or ')} (upgrade.signedBy)`;
  return `${found}; ${wanted}`;
}

async function reasonAgainst(
  { digest, message }: Exclude<SignedContent, string>,
  signedBy: readonly string[],
  now: Date,
): Promise<string | undefined> {
  try {
    const { signer, others } = await verifyMessage(message, digest);
    return refuseSigner(signer, others, signedBy, now);
  } catch (error) {
    // The library parses attacker-controlled bytes, so any exception means an invalid signature.
    return `found a signature that is not valid (${quoteText(messageOf(error))})`;
  }
}

/** Verifies that exactly one signer has signed this digest. @throws Error if not. */
async function verifyMessage(message: Buffer, digest: Buffer) {
  const asn1 = await import('asn1js');
  // Imported here because only upgrades under a config with `signedBy` need it.
  const { Certificate, ContentInfo, SignedData } = await import('pkijs');
  const parts = (block: BaseBlock | undefined): readonly BaseBlock[] =>
    block instanceof asn1.Constructed ? block.valueBlock.value : [];
  const identifier = (block: BaseBlock | undefined): string | undefined =>
    block instanceof asn1.ObjectIdentifier ? block.valueBlock.toString() : undefined;

  const { result, offset } = asn1.fromBER(message);
  if (offset <= 0) throw new Error(`its message is truncated: ${result.error}`);
  const padding = message.subarray(offset);
  if (padding.length > 7 || padding.some((byte) => byte !== 0))
    throw new Error(`${padding.length} bytes follow its message`);
  const info = new ContentInfo({ schema: result });
  const signed = new SignedData({ schema: info.content });
  const { encapContentInfo, signerInfos, certificates = [] } = signed;
  const [signerInfo] = signerInfos;
  if (signerInfo === undefined || signerInfos.length > 1)
    throw new Error(`it has ${signerInfos.length} signers; wanted one`);
  if (certificates.length > MAX_CERTIFICATES)
    throw new Error(
      `it has ${certificates.length} certificates; wanted at most ${MAX_CERTIFICATES}`,
    );
  const { digestAlgorithm, signatureAlgorithm, signedAttrs } = signerInfo;
  const type = signedAttrs?.attributes.find((attribute) => attribute.type === CONTENT_TYPE);
  const isIndirect =
    encapContentInfo.eContentType === INDIRECT_DATA &&
    identifier((type?.values as BaseBlock[] | undefined)?.[0]) === INDIRECT_DATA;
  if (!isIndirect) throw new Error('it does not sign a program');
  const algorithm = signatureAlgorithm.algorithmId;
  if (digestAlgorithm.algorithmId !== SHA256) throw new Error('its digest is not a SHA-256');
  if (algorithm !== RSA_ENCRYPTION && !STRONG.has(algorithm))
    throw new Error(`its algorithm is ${algorithm}`);

  const [data, digestInfo] = parts(encapContentInfo.eContent);
  const [digestType, value] = parts(digestInfo);
  if (identifier(parts(data)[0]) !== PE_IMAGE_DATA) throw new Error('it does not sign a PE file');
  if (identifier(parts(digestType)[0]) !== SHA256)
    throw new Error('the digest of the program is not a SHA-256');
  if (!(value instanceof asn1.OctetString) || !digest.equals(Buffer.from(value.getValue())))
    throw new Error('the program was changed after it was signed');

  const verdict = await signed.verify({ signer: 0, checkChain: false, extendedMode: true });
  if (verdict.signatureVerified !== true || !(verdict.signerCertificate instanceof Certificate))
    throw new Error('it does not match the key of its signer');
  const found = (certificate: InstanceType<typeof Certificate>): Found => ({
    x509: new X509Certificate(Buffer.from(certificate.toSchema().toBER())),
    isStrong: STRONG.has(certificate.signatureAlgorithm.algorithmId),
  });
  const all = certificates.filter((each) => each instanceof Certificate).map(found);
  return { signer: found(verdict.signerCertificate), others: all };
}

/** Returns undefined if `signedBy` lists the signer or an authority above it. Every certificate up to the listed one must be valid now. */
function refuseSigner(
  signer: Found,
  others: readonly Found[],
  signedBy: readonly string[],
  now: Date,
): string | undefined {
  const { validFrom, validTo, keyUsage } = signer.x509;
  const shown = `found the certificate ${nameOf(signer.x509)}`;
  if (!isValid(signer.x509, now)) return `${shown}, which is valid from ${validFrom} to ${validTo}`;
  // Node's `keyUsage` is the extended key usage.
  const usage = keyUsage as readonly string[] | undefined;
  if (usage?.includes(CODE_SIGNING) !== true) return `${shown}, which is not for signing code`;
  const path = [signer];
  for (const { x509, isStrong } of path) {
    if (signedBy.includes(thumbprintOf(x509))) return undefined;
    if (!isStrong) continue;
    const issuers = others.filter(
      (other) =>
        !path.includes(other) &&
        other.x509.ca &&
        isValid(other.x509, now) &&
        x509.checkIssued(other.x509) &&
        x509.verify(other.x509.publicKey),
    );
    path.push(...issuers);
  }
  return `found ${path.map(({ x509 }) => nameOf(x509)).join(', issued by ')}`;
}

function thumbprintOf({ fingerprint256 }: X509Certificate): string {
  return fingerprint256.replaceAll(':', '').toLowerCase();
}

function nameOf(certificate: X509Certificate): string {
  const name = certificate.subject.replaceAll('\n', ', ').slice(0, 200);
  return `${quoteText(name)} (${thumbprintOf(certificate)})`;
}

function isValid({ validFrom, validTo }: X509Certificate, now: Date): boolean {
  return new Date(validFrom) <= now && now <= new Date(validTo);
}
