import { quoteText } from '@wins/base';
import { X509Certificate } from 'node:crypto';
import * as pkijs from 'pkijs';
import { isStrong } from './algorithms.js';

const EXTENDED_KEY_USAGE = '2.5.29.37';
const BASIC_CONSTRAINTS = '2.5.29.19';
const ANY_PURPOSE = '2.5.29.37.0';
const MAX_NAME = 200;

/** Object identifiers of key purposes. */
export const CODE_SIGNING = '1.3.6.1.5.5.7.3.3';
export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
/** Ends the validity of a signature with the certificate, even with a timestamp. */
export const LIFETIME_SIGNING = '1.3.6.1.4.1.311.10.3.13';

/** An X.509 certificate, with the facts that Node does not tell. */
export class Certificate {
  readonly x509: X509Certificate;
  /** SHA-256, in lower-case hex. */
  readonly thumbprint: string;
  /** Whether the certificate was itself signed with a strong algorithm. */
  readonly isStrong: boolean;
  /** Object identifiers of the extended key usage; undefined without this extension, which allows every purpose. */
  readonly purposes: readonly string[] | undefined;
  /** Whether the extended key usage is a critical extension. */
  readonly limitsPurposes: boolean;
  /** Maximum number of authorities below this one; undefined without a limit. */
  readonly pathLength: number | undefined;

  /** @throws Error if the bytes are not one certificate. */
  constructor(parsed: pkijs.Certificate) {
    this.x509 = new X509Certificate(Buffer.from(parsed.toSchema().toBER()));
    this.thumbprint = this.x509.fingerprint256.replaceAll(':', '').toLowerCase();
    this.isStrong = isStrong(parsed.signatureAlgorithm);
    const extensions = parsed.extensions ?? [];
    if (new Set(extensions.map(({ extnID }) => extnID)).size < extensions.length)
      throw new Error(`the certificate ${this.name} has an extension twice`);
    const extension = (id: string) => extensions.find(({ extnID }) => extnID === id);
    const usage = extension(EXTENDED_KEY_USAGE);
    this.limitsPurposes = usage?.critical === true;
    this.purposes = usage && (usage.parsedValue as pkijs.ExtKeyUsage).keyPurposes;
    const constraints = extension(BASIC_CONSTRAINTS)?.parsedValue as
      | pkijs.BasicConstraints
      | undefined;
    const length = constraints?.pathLenConstraint;
    this.pathLength = length === undefined ? undefined : Number(length);
  }

  /** @throws Error */
  static fromPem(pem: string): Certificate {
    return new Certificate(pkijs.Certificate.fromBER(new X509Certificate(pem).raw));
  }

  get name(): string {
    return `${subjectOf(this.x509.subject)} (${this.thumbprint})`;
  }

  get issuerName(): string {
    return subjectOf(this.x509.issuer);
  }

  get isSelfIssued(): boolean {
    return this.x509.subject === this.x509.issuer;
  }

  /** Whether an authority with this certificate may certify keys for a purpose. */
  allows(purpose: string): boolean {
    return this.purposes?.some((each) => each === purpose || each === ANY_PURPOSE) ?? true;
  }

  isValidAt(time: Date): boolean {
    return new Date(this.x509.validFrom) <= time && time <= new Date(this.x509.validTo);
  }
}

function subjectOf(name: string): string {
  return quoteText(name.replaceAll('\n', ', ').slice(0, MAX_NAME));
}
