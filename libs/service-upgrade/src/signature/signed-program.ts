import type { SignerRule } from '@wins/base';
import type { OnBlock } from '@wins/trusted-files';
import { ContentReader, type SignedContent } from './signed-content.js';

/** Receives the blocks of a program while it is copied, so that exactly the copied bytes are verified. */
export class SignedProgram {
  #reader = new ContentReader();
  #content: SignedContent | undefined;

  readonly take: OnBlock = (block, position) => {
    // A copy begins again if another program held the file.
    if (position === 0) this.#reader = new ContentReader();
    return this.#reader.take(block, position);
  };

  /**
   * Returns the reason to refuse the received program, if any. All certificates must be valid at `now`, or at the time of
   * a trusted timestamp.
   */
  async refuse(rule: SignerRule, now = new Date()): Promise<string | undefined> {
    this.#content ??= this.#reader.end();
    // Loaded here because only upgrades under a config with `signedBy` need the parsers.
    const { refuseSignature } = await import('./verify-signature.js');
    return refuseSignature(this.#content, rule, now);
  }

  /** Returns the first reason to refuse the program, if any. Every rule must accept it. Without rules, every program is accepted. */
  async refuseByAll(rules: readonly SignerRule[]): Promise<string | undefined> {
    for (const rule of rules) {
      const found = await this.refuse(rule);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
