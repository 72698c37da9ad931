import { FeatureError } from '../../kernel/feature-error.js';

/** One of each kind at a time: two that record the same disturb each other, and double what they cost. */
export class Turns {
  readonly #taken = new Set<string>();

  /**
   * Takes the only turn of a kind; disposing gives it back.
   *
   * @param what - For the message: `take a heap snapshot`.
   * @throws FeatureError `busy`.
   */
  take(what: string): Disposable {
    if (this.#taken.has(what)) {
      const message = `cannot ${what}: found that one is under way; wanted one at a time; try again when it has ended`;
      throw new FeatureError('busy', message);
    }
    this.#taken.add(what);
    return { [Symbol.dispose]: () => void this.#taken.delete(what) };
  }
}
