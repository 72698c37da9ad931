// Node makes no certificates, so this file writes their DER. That avoids a dependency.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { parseAddress } from '../ip-network.js';

/** A certificate with its key, both PEM. */
export interface KeyPair {
  readonly cert: string;
  readonly key: string;
}

export interface CertificateAuthority extends KeyPair {
  readonly commonName: string;
  /** Issues a server certificate for `names` (DNS names, IP addresses), or a client certificate if there are none. */
  issue(commonName: string, names?: readonly string[], options?: IssueOptions): KeyPair;
}

export interface IssueOptions {
  /** Default: a day ago. */
  readonly notBefore?: Date;
  /** Default: in a day. */
  readonly notAfter?: Date;
  /** Whether the certificate may sign programs. */
  readonly signsCode?: boolean;
}

/** Creates an authority with a P-256 key, valid until tomorrow. It is self-signed unless there is a `parent`. */
export function createCertificateAuthority(
  commonName: string,
  parent?: CertificateAuthority,
): CertificateAuthority {
  const { spki, pem } = newKey();
  const own = { commonName, key: pem };
  return {
    ...own,
    cert: certificate(parent ?? own, commonName, spki, [BASIC_CONSTRAINTS_CA]),
    issue: (subject, names = [], options = {}) => {
      const key = newKey();
      const extensions = names.length === 0 ? [] : [alternativeNames(names)];
      if (options.signsCode === true) extensions.push(CODE_SIGNING);
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

function certificate(
  issuer: Pick<CertificateAuthority, 'commonName' | 'key'>,
  subject: string,
  spki: Buffer,
  extensions: readonly Buffer[],
  { notBefore, notAfter }: IssueOptions = {},
): string {
  // DER requires a positive number without leading zeros.
  const serial = Buffer.concat([Buffer.from([0x40]), randomBytes(7)]);
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

function alternativeNames(names: readonly string[]): Buffer {
  const entries = names.map((each) => {
    const address = parseAddress(each);
    return address === undefined ? der(0x82, Buffer.from(each)) : der(0x87, Buffer.from(address));
  });
  return extension('551d11', false, sequence(...entries));
}

const ECDSA_WITH_SHA256 = sequence(objectId('2a8648ce3d040302'));
const BASIC_CONSTRAINTS_CA = extension('551d13', true, sequence(der(0x01, Buffer.from([0xff]))));
const CODE_SIGNING = extension('551d25', false, sequence(objectId('2b06010505070303')));
