import type { OnBlock } from '@wins/trusted-files';
import { ContentReader, type SignedContent } from './signed-content.js';
import { refuseSignature } from './verify-signature.js';

/** Receives the blocks of a program while it is copied, so that exactly the copied bytes are verified. */
export class SignedProgram {
  readonly #reader = new ContentReader();
  #content: SignedContent | undefined;

  readonly take: OnBlock = (block, position) => this.#reader.take(block, position);

  /**
   * Returns the reason to refuse the received program, if any. All certificates must be valid at `now`.
   * @param signedBy - SHA-256 thumbprints in lower-case hex, of the signer's certificate or of an authority above it.
   */
  async refuse(signedBy: readonly string[], now = new Date()): Promise<string | undefined> {
    this.#content ??= this.#reader.end();
    return refuseSignature(this.#content, signedBy, now);
  }

  /**
   * Returns the first reason to refuse the program, if any. Every list must contain a certificate of the program's chain.
   * Without lists, every program is accepted.
   */
  async refuseByAll(lists: readonly (readonly string[])[]): Promise<string | undefined> {
    for (const signedBy of lists) {
      const found = await this.refuse(signedBy);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
