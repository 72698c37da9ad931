import type { OnBlock } from '@wins/trusted-files';
import { ContentReader, type SignedContent } from './signed-content.js';
import { refuseSignature } from './verify-signature.js';

/**
 * Takes the blocks of a program while it is copied, so that the signature that is judged belongs to
 * the bytes that were written: Authenticode with SHA-256.
 */
export class SignedProgram {
  readonly #reader = new ContentReader();
  #content: SignedContent | undefined;

  /** Takes the next block; the first one has the headers. */
  readonly take: OnBlock = (block, position) => this.#reader.take(block, position);

  /**
   * Judges the signature, once the whole program was taken.
   *
   * @param signedBy - SHA-256 thumbprints in lower-case hex, of the signer's certificate or of an authority above it.
   * @param now - When all certificates on the way must be valid. Default: now.
   * @returns Why the program is not taken; undefined when it is.
   */
  async refuse(signedBy: readonly string[], now = new Date()): Promise<string | undefined> {
    this.#content ??= this.#reader.end();
    return refuseSignature(this.#content, signedBy, now);
  }

  /** Judges the signature by several lists: each must have a certificate of it. Without lists every program is taken. */
  async refuseByAll(lists: readonly (readonly string[])[]): Promise<string | undefined> {
    for (const signedBy of lists) {
      const found = await this.refuse(signedBy);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
