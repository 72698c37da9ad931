import { messageOf, quoteText, type SignerRule } from '@wins/base';
import { breakOf, validityOf, Work } from './certificate-chain.js';
import { CODE_SIGNING, LIFETIME_SIGNING, type Certificate } from './certificate.js';
import { readSignatures, verifyProgram } from './program-signature.js';
import type { SignedContent } from './signed-content.js';
import type { SignedMessage } from './signed-message.js';
import { readStamps } from './timestamp.js';
import { TrustedCertificates } from './trusted-certificates.js';

interface Refusal {
  readonly found: string;
  readonly nextStep?: string | undefined;
}

/** Undefined when the signature is accepted. */
export function refuseSignature(
  content: SignedContent,
  rule: SignerRule,
  now: Date,
): string | undefined {
  const judge = new Judge(rule, now);
  const refusal = typeof content === 'string' ? { found: content } : judge.refuse(content);
  if (refusal === undefined) return undefined;
  const wanted = `wanted a signature by ${judge.wanted} (upgrade.signedBy)`;
  return [`${refusal.found}; ${wanted}`, refusal.nextStep].filter((part) => part).join('. ');
}

class Judge {
  readonly #entries: readonly {
    readonly trusted: TrustedCertificates;
    readonly purpose?: string | undefined;
  }[];
  readonly #stampers: TrustedCertificates;
  readonly #now: Date;
  readonly #work = new Work();

  constructor({ signedBy, timestampedBy = [] }: SignerRule, now: Date) {
    this.#entries = signedBy.map(({ certificate, ...rest }) => ({
      ...rest,
      trusted: new TrustedCertificates([certificate]),
    }));
    this.#stampers = new TrustedCertificates(timestampedBy);
    this.#now = now;
  }

  get wanted(): string {
    const names = this.#entries.map(({ trusted, purpose }) =>
      purpose === undefined ? trusted.names : `${trusted.names} for the purpose ${purpose}`,
    );
    return names.join(' or ');
  }

  /** A program is accepted by any of its signatures, because each covers the whole program. */
  refuse({ digests, message }: Exclude<SignedContent, string>): Refusal | undefined {
    try {
      let first: Refusal | undefined;
      for (const read of readSignatures(message)) {
        const refusal = this.#attempt(() =>
          this.#refuse(verifyProgram(read(), digests, this.#work)),
        );
        if (refusal === undefined) return undefined;
        first =
          first === undefined
            ? refusal
            : { ...first, found: `${first.found}; further ${refusal.found}` };
      }
      return first;
    } catch (error) {
      return invalid(error);
    }
  }

  #attempt(judge: () => Refusal | undefined): Refusal | undefined {
    try {
      return judge();
    } catch (error) {
      return invalid(error);
    }
  }

  #refuse(message: SignedMessage): Refusal | undefined {
    const { signer } = message;
    const shown = `found the certificate ${signer.name}`;
    if (signer.purposes?.includes(CODE_SIGNING) !== true)
      return { found: `${shown}, which is not for signing code` };
    const broken = this.#breakAt(this.#now, message);
    if (broken === undefined) return undefined;
    const found =
      broken.isOutOfDate && !signer.isValidAt(this.#now)
        ? `${shown}, ${validityOf(signer)}`
        : `found ${broken.found}`;
    if (!broken.isOutOfDate) return { found, nextStep: nextStep(broken.missing) };
    return this.#refuseAtStamp(message, found);
  }

  /** Judges a signature whose certificates are not valid now, at the time of its timestamp. */
  #refuseAtStamp(message: SignedMessage, found: string): Refusal | undefined {
    const { signer } = message;
    if (signer.purposes?.includes(LIFETIME_SIGNING) === true)
      return { found: `${found}, and which ends its signatures with itself (lifetime signing)` };
    const { times, reason } = readStamps(message, this.#stampers, this.#now, this.#work);
    const broken = times.map((time) => [time, this.#breakAt(time, message)] as const);
    if (broken.some(([, at]) => at === undefined)) return undefined;
    const [first] = broken;
    const why =
      first === undefined
        ? reason
        : `at its timestamp, ${first[0].toISOString()}, it was ${first[1]?.found ?? ''}`;
    return { found: `${found}; ${why}` };
  }

  #breakAt(time: Date, { signer, certificates }: SignedMessage) {
    const inConfig = this.#entries.flatMap(({ trusted }) => trusted.certificates);
    return breakOf({
      leaf: signer,
      others: [...certificates, ...inConfig],
      isListed: (certificate) => this.#isListed(certificate, signer),
      purpose: CODE_SIGNING,
      time,
      work: this.#work,
    });
  }

  #isListed({ thumbprint }: Certificate, { purposes = [] }: Certificate): boolean {
    return this.#entries.some(
      ({ trusted, purpose }) =>
        trusted.has(thumbprint) && (purpose === undefined || purposes.includes(purpose)),
    );
  }
}

function nextStep(missing: string | undefined): string | undefined {
  return missing && `To accept programs that ${missing} certifies, list its certificate as PEM`;
}

/** The bytes are the attacker's, so any exception of a parser means an invalid signature. */
function invalid(error: unknown): Refusal {
  return { found: `found a signature that is not valid (${quoteText(messageOf(error))})` };
}
