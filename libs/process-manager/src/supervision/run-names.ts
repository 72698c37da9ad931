import { quoteText } from '@wins/wins-program';
import { ProcessError } from '../process-error.js';

/** The right of one start to use a name. */
export interface TakenName {
  /** Frees the name; idempotent. */
  release(): void;
}

/** The names that start or run: each belongs to one run at a time. */
export class RunNames {
  readonly #keyOf: (name: string) => string;
  readonly #limit: number;
  /** The program of each run, by the key of its name. */
  readonly #taken = new Map<string, string>();

  /** @param limit - The most names that may be taken at once. */
  constructor(keyOf: (name: string) => string, limit: number) {
    this.#keyOf = keyOf;
    this.#limit = limit;
  }

  /** @throws ProcessError `alreadyRunning`, `tooManyProcesses`. */
  assertFree(name: string, path: string): void {
    const holder = this.#taken.get(this.#keyOf(name));
    if (holder !== undefined) {
      const message = `cannot start ${quoteText(path)}: ${quoteText(name)} is already running from ${quoteText(holder)}`;
      throw new ProcessError('alreadyRunning', message, { path: holder });
    }
    if (this.#taken.size >= this.#limit) {
      const message = `cannot start ${quoteText(path)}: found ${this.#limit} runs; wanted fewer than that`;
      throw new ProcessError('tooManyProcesses', message, { path });
    }
  }

  /**
   * Takes a name for the program at `path`. Synchronous, so that two starts cannot both pass.
   *
   * @throws ProcessError `alreadyRunning`, `tooManyProcesses`.
   */
  take(name: string, path: string): TakenName {
    this.assertFree(name, path);
    const key = this.#keyOf(name);
    this.#taken.set(key, path);
    let taken = true;
    return {
      release: () => {
        if (taken) this.#taken.delete(key);
        taken = false;
      },
    };
  }
}
