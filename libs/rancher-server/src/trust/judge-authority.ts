import { quoteText } from '@wins/wins-program';
import type { RancherErrorCode } from '../rancher-error.js';

/** What was found out about a server whose certificate nothing vouches for yet. */
export interface AuthorityFacts {
  /** What the caller gave, in any case; undefined for none. */
  readonly wantedChecksum: string | undefined;
  /** SHA-256 of the body of `/cacerts`, in lower-case hex. */
  readonly foundChecksum: string;
  readonly bodyBytes: number;
  readonly proof: 'right' | 'wrong' | 'missing' | 'notAsked';
}

/** Why its `/cacerts` may be believed, or why not. */
export type AuthorityVerdict =
  | { readonly authority: 'checksum' | 'proof' }
  | { readonly code: RancherErrorCode; readonly found: string; readonly wanted: string };

const WANTED =
  'a checksum of its /cacerts (CATTLE_CA_CHECKSUM, -CaChecksum), a token that the server proves to know, or a certificate that the system trusts';

/** A checksum decides alone where there is one; without it the proof does. An empty body can be proven, and says nothing. */
export function judgeAuthority(facts: AuthorityFacts): AuthorityVerdict {
  const { wantedChecksum, foundChecksum, bodyBytes, proof } = facts;
  if (wantedChecksum !== undefined) {
    if (wantedChecksum.toLowerCase() === foundChecksum) {
      if (bodyBytes > 0) return { authority: 'checksum' };
      return { code: 'badShape', found: 'an empty /cacerts', wanted: 'certificates' };
    }
    const empty = bodyBytes === 0 ? ', that of an empty body' : '';
    return {
      code: 'checksumMismatch',
      found: `a /cacerts with the SHA-256 ${foundChecksum}${empty}`,
      wanted: quoteText(wantedChecksum),
    };
  }
  if (proof === 'wrong')
    return {
      code: 'proofFailed',
      found: 'a proof (X-Cattle-Hash) that is not of this token, question and /cacerts',
      wanted: 'the right one; someone may be between this node and the server',
    };
  if (proof === 'right') {
    if (bodyBytes > 0) return { authority: 'proof' };
    return {
      code: 'untrusted',
      found: 'a server without certificates in /cacerts, whose own is not trusted by the system',
      wanted: WANTED,
    };
  }
  const found =
    proof === 'missing'
      ? 'a server that does not prove to know the token (a bootstrap token of a machine cannot be proven)'
      : 'nothing that says who the server is';
  return { code: 'untrusted', found, wanted: WANTED };
}
