import type { Optional } from './options.js';
/** A certificate that may sign programs, or an authority that certifies such signers. */
export interface AcceptedSigner {
  /** SHA-256 thumbprint in lower-case hex, or one certificate as PEM. A thumbprint must be that of a certificate in the signed file. */
  readonly certificate: string;
  /** Object identifier of a key purpose that the signer's certificate must have besides code signing. Default: none. */
  readonly purpose?: string | undefined;
}

/** Returns the rule of a config; undefined if the config wants no signature. */
export function signerRuleOf({ signedBy, timestampedBy = [] }: Optional<SignerRule>) {
  return signedBy && { signedBy, timestampedBy };
}

/** Rule for the signature of a program. */
export interface SignerRule {
  readonly signedBy: readonly AcceptedSigner[];
  /** Timestamp authorities, written like {@link AcceptedSigner.certificate}. Default: none, so that timestamps do not count. */
  readonly timestampedBy?: readonly string[] | undefined;
}
