import {
  createCertificateAuthority,
  type CertificateAuthority,
  type KeyPair,
} from '@wins/base/testing';

/**
 * `chain`: issued by an intermediate authority, whose certificate the server sends too. `otherAuthority`: issued by an
 * authority that is not in `/cacerts`.
 */
export type CertificateKind =
  | 'valid'
  | 'chain'
  | 'expired'
  | 'notYetValid'
  | 'otherHost'
  | 'otherAuthority';

const DAY_MS = 86_400_000;

export function issueCertificate(
  authority: CertificateAuthority,
  kind: CertificateKind,
  names: readonly string[],
): KeyPair {
  const inDays = (days: number) => new Date(Date.now() + days * DAY_MS);
  switch (kind) {
    case 'chain': {
      const between = createCertificateAuthority('between', authority);
      const { cert, key } = between.issue('rancher', names);
      return { cert: cert + between.cert, key };
    }
    case 'expired':
      return authority.issue('rancher', names, { notBefore: inDays(-9), notAfter: inDays(-2) });
    case 'notYetValid':
      return authority.issue('rancher', names, { notBefore: inDays(2), notAfter: inDays(9) });
    case 'otherHost':
      return authority.issue('rancher', ['elsewhere.invalid']);
    case 'otherAuthority':
      return createCertificateAuthority('other').issue('rancher', names);
    case 'valid':
      return authority.issue('rancher', names);
  }
}
