import { quoteText } from '@wins/wins-program';
import { imageFailed } from '../image-failure.js';

/** Refuses two entries of one layer that a file system without regard to case takes for one. */
export class SpellingCheck {
  readonly #spellings = new Map<string, string>();

  /** @throws AgentError `imageFailed`. */
  add(parts: readonly string[]): void {
    let path = '';
    for (const part of parts) {
      path += `/${part}`;
      // As NTFS compares: by the upper case of each character.
      const key = path.toUpperCase();
      const known = this.#spellings.get(key) ?? path;
      if (known !== path)
        throw imageFailed(
          `unpack ${quoteText(path.slice(1))}`,
          `${quoteText(known.slice(1))} in the same layer`,
          'names that differ in more than their case',
        );
      this.#spellings.set(key, path);
    }
  }
}
