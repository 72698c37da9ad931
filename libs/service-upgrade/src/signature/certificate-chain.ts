import type { Certificate } from './certificate.js';

/** Maximum number of public-key operations for one program; a hostile file could otherwise need thousands. */
const MAX_OPERATIONS = 256;

/** Counts the public-key operations for one program. */
export class Work {
  #operations = 0;

  /** @throws Error beyond 256 operations. */
  begin(): void {
    this.#operations += 1;
    if (this.#operations > MAX_OPERATIONS)
      throw new Error(`its certificates need more than ${MAX_OPERATIONS} verifications`);
  }
}

export interface ChainQuestion {
  readonly leaf: Certificate;
  /** Certificates that may be issuers. */
  readonly others: readonly Certificate[];
  readonly isListed: (certificate: Certificate) => boolean;
  /** Object identifier of the key purpose that each issuer must allow. */
  readonly purpose: string;
  readonly time: Date;
  readonly work: Work;
}

interface Link {
  readonly certificate: Certificate;
  readonly issued?: Link;
  /** Number of authorities below, without those that issued themselves. */
  readonly below: number;
}

export interface BrokenChain {
  /** Names from the leaf up, such as `"CN=leaf" (…), issued by "CN=root", whose certificate is not in the file`. */
  readonly found: string;
  /** Whether some certificate was not valid at the time. */
  readonly isOutOfDate: boolean;
  /** Name of the issuer whose certificate is absent. */
  readonly missing?: string;
}

/** Undefined if the leaf, or an authority above it, is listed, and all certificates up to the listed one may stand there. */
export function breakOf(question: ChainQuestion): BrokenChain | undefined {
  const { leaf, others, isListed, time } = question;
  const links: Link[] = [{ certificate: leaf, below: 0 }];
  const refused = new Map<Link, string>();
  let isOutOfDate = false;
  if (!leaf.isValidAt(time))
    return { found: `${leaf.name}, ${validityOf(leaf)}`, isOutOfDate: true };
  // Each certificate is visited once, from the shortest way up to it, so a file cannot make the search longer.
  for (const link of links) {
    const { certificate } = link;
    if (isListed(certificate)) return undefined;
    if (!certificate.isStrong) {
      refused.set(link, `${certificate.issuerName} with an algorithm weaker than SHA-256`);
      continue;
    }
    for (const issuer of others) {
      if (links.some((known) => known.certificate.thumbprint === issuer.thumbprint)) continue;
      if (!certificate.x509.checkIssued(issuer.x509)) continue;
      const reason = refuseIssuer(issuer, link, question);
      if (reason === undefined)
        links.push({
          certificate: issuer,
          issued: link,
          below: link.below + (issuer.isSelfIssued ? 0 : 1),
        });
      else {
        isOutOfDate ||= !issuer.isValidAt(time);
        refused.set(link, `${issuer.name}, ${reason}`);
      }
    }
  }
  return { ...describe(links, refused), isOutOfDate };
}

function refuseIssuer(issuer: Certificate, { certificate, below }: Link, question: ChainQuestion) {
  if (!issuer.x509.ca) return 'which is not an authority';
  if (!issuer.isValidAt(question.time)) return validityOf(issuer);
  if (!issuer.allows(question.purpose)) return 'which may not certify keys for this purpose';
  if (issuer.pathLength !== undefined && below > issuer.pathLength)
    return 'which may not certify this many authorities';
  question.work.begin();
  return certificate.x509.verify(issuer.x509.publicKey) ? undefined : 'whose key is another';
}

function describe(links: readonly Link[], refused: ReadonlyMap<Link, string>) {
  const last = links.at(-1);
  const names: string[] = [];
  for (let link = last; link !== undefined; link = link.issued)
    names.unshift(link.certificate.name);
  const reason = last && refused.get(last);
  if (reason !== undefined) return { found: [...names, reason].join(', issued by ') };
  const { isSelfIssued = true, issuerName = '' } = last?.certificate ?? {};
  if (isSelfIssued) return { found: names.join(', issued by ') };
  const absent = `${issuerName}, whose certificate is not in the file`;
  return { found: [...names, absent].join(', issued by '), missing: issuerName };
}

export function validityOf({ x509: { validFrom, validTo } }: Certificate): string {
  return `which is valid from ${validFrom} to ${validTo}`;
}
