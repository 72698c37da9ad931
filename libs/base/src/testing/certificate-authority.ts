// Node makes no certificates, so this file writes their DER. That avoids a dependency.
import { createHash, createPublicKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { parseAddress } from '../ip-network.js';

/** A certificate with its key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateAuthority extends KeyPair {
  readonly commonName: string;
  /** DER of the extension by which its certificates name it; empty if they do not. */
  readonly issuerKeyId: readonly Buffer[];
  /** Issues a server certificate for `names` (DNS names, IP addresses), or a client certificate if there are none. */
  issue(commonName: string, names?: readonly string[], options?: IssueOptions): KeyPair;
}

/**
 * How the certificates of an authority name its key.
 * - `none`: by its name only.
 * - `ownOnly`: by its name only, but the authority's certificate has a key id.
 * - `keyId`: by its key id.
 * - `issuerAndSerial`: by the issuer and the serial number of the authority's certificate.
 */
export type KeyIds = 'none' | 'ownOnly' | 'keyId' | 'issuerAndSerial';

export interface Validity {
  /** Default: a day ago. */
  readonly notBefore?: Date;
  /** Default: in a day. */
  readonly notAfter?: Date;
}

export interface IssueOptions extends Validity {
  /** Object identifiers of the key purposes in the certificate, such as {@link CODE_SIGNING}. Default: no such extension. */
  readonly purposes?: readonly string[];
  /** Whether that extension is critical. Default false. */
  readonly limitsPurposes?: boolean;
}

export interface AuthorityOptions extends IssueOptions {
  /** Maximum number of authorities below this one. Default: any. */
  readonly pathLength?: number;
  /** Private key (PEM) of another authority, to certify its key again. Default: a new key. */
  readonly key?: string;
  /** Default: `none`. */
  readonly keyIds?: KeyIds;
}

/** Key purposes of signers of programs, and of timestamp authorities. */
export const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';

/** Creates an authority with a P-256 key, valid until tomorrow. It is self-signed unless there is a `parent`. */
export function createCertificateAuthority(
  commonName: string,
  parent?: CertificateAuthority,
  { keyIds = 'none', ...options }: AuthorityOptions = {},
): CertificateAuthority {
  const { spki, pem } = options.key === undefined ? newKey() : keyOf(options.key);
  const serial = newSerial();
  const keyId = createHash('sha1').update(spki).digest();
  const issuerKeyId = {
    none: () => [],
    ownOnly: () => [],
    keyId: () => [authorityKeyId(der(0x80, keyId))],
    issuerAndSerial: () => [
      authorityKeyId(
        der(0xa1, der(0xa4, name((parent ?? { commonName }).commonName))),
        der(0x82, serial),
      ),
    ],
  }[keyIds]();
  const own = { commonName, key: pem, issuerKeyId };
  const extensions = [
    authorityConstraints(options.pathLength),
    ...keyUsage(options),
    ...(keyIds === 'none' ? [] : [extension('551d0e', false, der(0x04, keyId))]),
  ];
  return {
    ...own,
    cert: certificate(parent ?? { ...own, issuerKeyId: [] }, commonName, spki, extensions, {
      ...options,
      serial,
    }),
    issue: (subject, names = [], options = {}) => {
      const key = newKey();
      const extensions = names.length === 0 ? [] : [alternativeNames(names)];
      extensions.push(...keyUsage(options));
      return { cert: certificate(own, subject, key.spki, extensions, options), key: key.pem };
    },
  };
}

const DAY_MS = 86_400_000;

function newKey(): { spki: Buffer; pem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'der' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { spki: publicKey, pem: privateKey };
}

function keyOf(pem: string): { spki: Buffer; pem: string } {
  return { spki: createPublicKey(pem).export({ type: 'spki', format: 'der' }), pem };
}

/** DER requires a positive number without leading zeros. */
function newSerial(): Buffer {
  return Buffer.concat([Buffer.from([0x40]), randomBytes(7)]);
}

function certificate(
  issuer: Pick<CertificateAuthority, 'commonName' | 'key' | 'issuerKeyId'>,
  subject: string,
  spki: Buffer,
  ownExtensions: readonly Buffer[],
  { notBefore, notAfter, serial = newSerial() }: Validity & { readonly serial?: Buffer },
): string {
  const extensions = [...ownExtensions, ...issuer.issuerKeyId];
  const now = Date.now();
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, serial),
    ECDSA_WITH_SHA256,
    name(issuer.commonName),
    sequence(time(notBefore ?? new Date(now - DAY_MS)), time(notAfter ?? new Date(now + DAY_MS))),
    name(subject),
    spki,
    ...(extensions.length === 0 ? [] : [der(0xa3, sequence(...extensions))]),
  );
  const whole = sequence(
    signed,
    ECDSA_WITH_SHA256,
    der(0x03, Buffer.from([0]), sign('sha256', signed, issuer.key)),
  );
  const lines = whole.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function der(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const size = content.length;
  const length =
    size < 0x80 ? [size] : size < 0x100 ? [0x81, size] : [0x82, size >> 8, size & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), content]);
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, ...parts);
}

function objectId(hex: string): Buffer {
  return der(0x06, Buffer.from(hex, 'hex'));
}

function name(commonName: string): Buffer {
  return sequence(der(0x31, sequence(objectId('550403'), der(0x0c, Buffer.from(commonName)))));
}

function time(date: Date): Buffer {
  const text = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return der(0x18, Buffer.from(text));
}

function extension(id: string, critical: boolean, value: Buffer): Buffer {
  const flag = critical ? [der(0x01, Buffer.from([0xff]))] : [];
  return sequence(objectId(id), ...flag, der(0x04, value));
}

function authorityKeyId(...parts: readonly Buffer[]): Buffer {
  return extension('551d23', false, sequence(...parts));
}

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map((each) => {
    const address = parseAddress(each);
    return address === undefined ? der(0x82, Buffer.from(each)) : der(0x87, Buffer.from(address));
  });
  return extension('551d11', false, sequence(...entries));
}

function keyUsage({ purposes, limitsPurposes = false }: IssueOptions): Buffer[] {
  if (purposes === undefined) return [];
  const ids = purposes.map((purpose) => der(0x06, objectIdBytes(purpose)));
  return [extension('551d25', limitsPurposes, sequence(...ids))];
}

function authorityConstraints(pathLength: number | undefined): Buffer {
  const limit = pathLength === undefined ? [] : [der(0x02, Buffer.from([pathLength]))];
  return extension('551d13', true, sequence(der(0x01, Buffer.from([0xff])), ...limit));
}

/** Encodes an identifier such as `1.3.6.1`: the first two numbers in one byte, each number in groups of seven bits. */
function objectIdBytes(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytesOf = (number: number): number[] => {
    const bytes = [number % 128];
    for (let left = Math.floor(number / 128); left > 0; left = Math.floor(left / 128))
      bytes.unshift(0x80 | (left % 128));
    return bytes;
  };
  return Buffer.from([40 * first + second, ...rest.flatMap(bytesOf)]);
}

const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));
