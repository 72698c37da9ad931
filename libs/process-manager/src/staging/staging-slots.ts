import { quoteText } from '@wins/base';
import { stat } from 'node:fs/promises';
import { foundIn, ProcessError } from '../process-error.js';

/**
 * Runs at most `size` pieces of work at once, because copying and hashing share four threads with all other file
 * access of the process. Serves clients round-robin, so that a client with a thousand requests delays only itself.
 */
export class StagingSlots {
  #free: number;
  /** Waiting work by client, in the order in which clients get the next slots. */
  readonly #waiting = new Map<string, (() => void)[]>();

  constructor(size: number) {
    this.#free = size;
  }

  async run<T>(client: string, work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#enqueue(client, resolve));
    try {
      return await work();
    } finally {
      // Pass the slot on instead of freeing it, so that no newcomer can overtake.
      const next = this.#next();
      if (next === undefined) this.#free += 1;
      else next();
    }
  }

  #enqueue(client: string, wake: () => void): void {
    const queue = this.#waiting.get(client);
    if (queue === undefined) this.#waiting.set(client, [wake]);
    else queue.push(wake);
  }

  #next(): (() => void) | undefined {
    const [first] = this.#waiting;
    if (first === undefined) return undefined;
    const [client, queue] = first;
    const wake = queue.shift();
    // Move the client behind all others.
    this.#waiting.delete(client);
    if (queue.length > 0) this.#waiting.set(client, queue);
    return wake;
  }
}

/** @throws ProcessError `directoryNotFound` unless the path names a directory. */
export async function assertDirectory(path: string): Promise<void> {
  let found = 'it is not a directory';
  let cause: unknown;
  try {
    if ((await stat(path)).isDirectory()) return;
  } catch (error) {
    cause = error;
    found = foundIn(error, path);
  }
  const message = `cannot use the working directory ${quoteText(path)}: ${found}`;
  throw new ProcessError('directoryNotFound', message, { path, cause });
}
