/**
 * Lets at most `size` pieces of work run at once; the others wait in the order they came. Copying
 * and hashing share four threads with everything else in the process, so they must not crowd them.
 */
export class StagingSlots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
    } finally {
      // A slot is handed on, not freed and taken again, so that nobody can overtake.
      const next = this.#waiting.shift();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
