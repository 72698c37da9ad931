import * as asn1 from 'asn1js';
import * as pkijs from 'pkijs';
import { hashOf } from './algorithms.js';
import { breakOf, type Work } from './certificate-chain.js';
import { TIME_STAMPING, type Certificate } from './certificate.js';
import {
  contentBytes,
  digestOf,
  readMessage,
  verifyMessage,
  type SignedMessage,
} from './signed-message.js';
import type { TrustedCertificates } from './trusted-certificates.js';

/** Attribute with an RFC 3161 token (`signtool /tr`). */
const RFC_3161 = '1.3.6.1.4.1.311.3.3.1';
/** Attribute with a countersignature (`signtool /t`). */
const COUNTERSIGNATURE = '1.2.840.113549.1.9.6';
const TST_INFO = '1.2.840.113549.1.9.16.1.4';
const MAX_TOKENS = 4;

export interface Stamps {
  /** When trusted authorities have seen the signature. */
  readonly times: readonly Date[];
  /** Why the other timestamps, or the lack of one, do not help. */
  readonly reason: string;
}

/** Reads the timestamps of a signature. Anybody can add or remove one, so a wrong timestamp is only ignored. */
export function readStamps(
  message: SignedMessage,
  trusted: TrustedCertificates,
  now: Date,
  work: Work,
): Stamps {
  const values = (type: string) =>
    message.unsigned
      .filter((attribute) => attribute.type === type)
      .flatMap(({ values: each }) => each as asn1.BaseBlock[]);
  const tokens = values(RFC_3161).slice(0, MAX_TOKENS);
  const times: Date[] = [];
  let reason = 'the signature has no timestamp';
  if (values(COUNTERSIGNATURE).length > 0)
    reason =
      'its timestamp is a countersignature of the older form; sign with signtool /tr, not /t';
  for (const token of tokens) {
    try {
      times.push(timeOf(token, message, trusted, now, work));
    } catch (error) {
      reason = `its timestamp does not count: ${error instanceof Error ? error.message : String(error)}`;
    }
  }
  return { times, reason };
}

/** @throws Error if the token does not count. */
function timeOf(
  token: asn1.BaseBlock,
  stamped: SignedMessage,
  trusted: TrustedCertificates,
  now: Date,
  work: Work,
): Date {
  const message = verifyMessage(readMessage(token), work);
  if (message.contentType !== TST_INFO) throw new Error('it is no RFC 3161 token');
  const { messageImprint, genTime } = pkijs.TSTInfo.fromBER(contentBytes(message.content));
  const hash = hashOf(messageImprint.hashAlgorithm);
  if (hash === undefined) throw new Error('its digest is weaker than SHA-256');
  const imprint = Buffer.from(messageImprint.hashedMessage.getValue());
  if (!digestOf(hash, stamped.signature).equals(imprint))
    throw new Error('it belongs to another signature');
  if (genTime > now)
    throw new Error(`it is of ${genTime.toISOString()}, later than the clock of this node`);
  requireTimestampAuthority(message.signer);
  const broken = breakOf({
    leaf: message.signer,
    others: [...message.certificates, ...stamped.certificates, ...trusted.certificates],
    isListed: ({ thumbprint }) => trusted.has(thumbprint),
    purpose: TIME_STAMPING,
    time: genTime,
    work,
  });
  if (broken !== undefined)
    throw new Error(
      `it is by ${broken.found}; wanted one by ${trusted.names} (upgrade.timestampedBy)`,
    );
  return genTime;
}

/** RFC 3161 wants this purpose alone, so that the key of a web server or a program's signer cannot make timestamps. */
function requireTimestampAuthority({ name, purposes, limitsPurposes }: Certificate): void {
  if (purposes?.length === 1 && purposes[0] === TIME_STAMPING && limitsPurposes) return;
  throw new Error(`it is by ${name}, which is not for timestamps alone`);
}
