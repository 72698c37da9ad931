import { Certificate } from './certificate.js';

/** Certificates that a config lists by thumbprint or as PEM. */
export class TrustedCertificates {
  /** Certificates whose bytes the config contains. */
  readonly certificates: readonly Certificate[];
  readonly #thumbprints: ReadonlySet<string>;
  /** Names for messages. */
  readonly names: string;

  /** @param listed - SHA-256 thumbprints in lower-case hex, or PEM texts of one certificate. @throws Error for another text. */
  constructor(listed: readonly string[]) {
    const entries = listed.map((text) => (isThumbprint(text) ? text : Certificate.fromPem(text)));
    this.certificates = entries.filter((entry) => typeof entry !== 'string');
    const thumbprints = entries.map((entry) =>
      typeof entry === 'string' ? entry : entry.thumbprint,
    );
    this.#thumbprints = new Set(thumbprints);
    this.names = entries
      .map((entry) => (typeof entry === 'string' ? entry : entry.name))
      .join(' or ');
  }

  has(thumbprint: string): boolean {
    return this.#thumbprints.has(thumbprint);
  }
}

function isThumbprint(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
