/** The part of an image that is unpacked, and becomes the root of the folder. */
export class Subtree {
  readonly #parts: readonly string[];

  /** @param path - With slashes, such as `Files/bin`; undefined or empty for the whole image. Compared without regard to case. */
  constructor(path = '') {
    this.#parts = path.split('/').filter((part) => part !== '');
  }

  /** Where a path of the image is in the folder; undefined when it is outside of the subtree. */
  inside(parts: readonly string[]): readonly string[] | undefined {
    return this.#matches(parts, this.#parts.length) ? parts.slice(this.#parts.length) : undefined;
  }

  /** Whether the subtree is this path, or below it. */
  isWithin(parts: readonly string[]): boolean {
    return parts.length <= this.#parts.length && this.#matches(parts, parts.length);
  }

  #matches(parts: readonly string[], count: number): boolean {
    const upper = (some: readonly string[]) => some.slice(0, count).join('/').toUpperCase();
    return parts.length >= count && upper(parts) === upper(this.#parts);
  }
}
