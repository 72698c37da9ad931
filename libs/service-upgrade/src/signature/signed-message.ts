import * as asn1 from 'asn1js';
import { hash } from 'node:crypto';
import * as pkijs from 'pkijs';
import { hashOf, verifies, type Hash } from './algorithms.js';
import type { Work } from './certificate-chain.js';
import { Certificate } from './certificate.js';

const CONTENT_TYPE = '1.2.840.113549.1.9.3';
const MESSAGE_DIGEST = '1.2.840.113549.1.9.4';
const MAX_CERTIFICATES = 32;

/** A CMS message that exactly one signer has signed. Its signature is valid; nobody has judged the certificate yet. */
export interface SignedMessage {
  readonly contentType: string;
  readonly content: asn1.BaseBlock;
  readonly signer: Certificate;
  /** Certificates in the message, with that of the signer. */
  readonly certificates: readonly Certificate[];
  /** Value of the signature, which a timestamp covers. */
  readonly signature: Buffer;
  /** Attributes that the signer has not signed; anybody can change them. */
  readonly unsigned: readonly pkijs.Attribute[];
}

/** A CMS message before its verification. */
export interface UnverifiedMessage {
  readonly signed: pkijs.SignedData;
  readonly unsigned: readonly pkijs.Attribute[];
}

/** @throws Error if the block is no CMS message with one signer. */
export function readMessage(block: asn1.BaseBlock): UnverifiedMessage {
  const info = new pkijs.ContentInfo({ schema: block });
  if (info.contentType !== pkijs.ContentInfo.SIGNED_DATA) throw new Error('it is not signed data');
  const signed = new pkijs.SignedData({ schema: info.content as unknown });
  const { signerInfos, certificates = [] } = signed;
  const [signerInfo] = signerInfos;
  if (signerInfo === undefined || signerInfos.length > 1)
    throw new Error(`it has ${signerInfos.length} signers; wanted one`);
  if (certificates.length > MAX_CERTIFICATES)
    throw new Error(
      `it has ${certificates.length} certificates; wanted at most ${MAX_CERTIFICATES}`,
    );
  return { signed, unsigned: signerInfo.unsignedAttrs?.attributes ?? [] };
}

/** @throws Error if the signature is not valid, or weaker than SHA-256. */
export function verifyMessage({ signed, unsigned }: UnverifiedMessage, work: Work): SignedMessage {
  const { encapContentInfo, signerInfos, certificates: all = [] } = signed;
  const [signerInfo] = signerInfos;
  const content = encapContentInfo.eContent as asn1.BaseBlock | undefined;
  if (signerInfo?.signedAttrs === undefined || content === undefined)
    throw new Error('it has no signed attributes, or no content');
  const digestAlgorithm = hashOf(signerInfo.digestAlgorithm);
  if (digestAlgorithm === undefined) throw new Error('its digest is weaker than SHA-256');
  const contentType = encapContentInfo.eContentType;
  const { attributes, encodedValue } = signerInfo.signedAttrs;
  const type = only(attributes, CONTENT_TYPE);
  if (identifierOf(type) !== contentType) throw new Error('it signs another type of content');
  const digest = only(attributes, MESSAGE_DIGEST);
  const isUnchanged =
    digest instanceof asn1.OctetString &&
    digestOf(digestAlgorithm, contentBytes(content)).equals(Buffer.from(digest.getValue()));
  if (!isUnchanged) throw new Error('its content was changed after it was signed');

  const parsed = all.filter((each) => each instanceof pkijs.Certificate);
  const found = parsed.find((each) => identifies(signerInfo.sid as unknown, each));
  if (found === undefined) throw new Error('the certificate of its signer is not in the file');
  const certificates = parsed.map((each) => new Certificate(each));
  const signer = new Certificate(found);
  const signature = Buffer.from(signerInfo.signature.getValue());
  const signedBytes = {
    algorithm: signerInfo.signatureAlgorithm,
    hash: digestAlgorithm,
    data: new Uint8Array(encodedValue),
    signature,
  };
  work.begin();
  if (!verifies(signedBytes, signer.x509.publicKey))
    throw new Error('it does not match the key of its signer');
  return { contentType, content, signer, certificates, signature, unsigned };
}

export function identifierOf(block: asn1.BaseBlock | undefined): string | undefined {
  return block instanceof asn1.ObjectIdentifier ? block.valueBlock.toString() : undefined;
}

export function digestOf(algorithm: Hash, bytes: Uint8Array): Buffer {
  return hash(algorithm, bytes, 'buffer');
}

/** Bytes below tag and length: of an octet string in CMS, of a sequence in the older PKCS #7. */
export function contentBytes(content: asn1.BaseBlock): Uint8Array {
  if (content instanceof asn1.OctetString) return new Uint8Array(content.getValue());
  if (content instanceof asn1.Constructed) return content.valueBlock.valueBeforeDecodeView;
  throw new Error('its content is neither an octet string nor a sequence');
}

/** @throws Error unless there is exactly one value. */
function only(attributes: readonly pkijs.Attribute[], type: string): asn1.BaseBlock | undefined {
  const [attribute, more] = attributes.filter((each) => each.type === type);
  const values = (attribute?.values ?? []) as readonly asn1.BaseBlock[];
  if (more !== undefined || values.length !== 1)
    throw new Error(`its signed attributes do not have ${type} exactly once`);
  return values[0];
}

function identifies(sid: unknown, certificate: pkijs.Certificate): boolean {
  if (sid instanceof pkijs.IssuerAndSerialNumber)
    return (
      certificate.issuer.isEqual(sid.issuer) && certificate.serialNumber.isEqual(sid.serialNumber)
    );
  const id: unknown = sid instanceof asn1.Constructed ? sid.valueBlock.value[0] : sid;
  const keyId = certificate.extensions?.find(({ extnID }) => extnID === '2.5.29.14')
    ?.parsedValue as unknown;
  return (
    hasOctets(id) &&
    keyId instanceof asn1.OctetString &&
    Buffer.from(keyId.getValue()).equals(Buffer.from(id.valueBlock.valueHexView))
  );
}

/** A key id has a tag of its own, so its block is of no named class. */
function hasOctets(
  block: unknown,
): block is { readonly valueBlock: { readonly valueHexView: Uint8Array } } {
  const { valueBlock } = block as { readonly valueBlock?: { readonly valueHexView?: unknown } };
  return valueBlock?.valueHexView instanceof Uint8Array;
}
