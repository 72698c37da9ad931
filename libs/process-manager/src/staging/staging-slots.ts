/**
 * Lets at most `size` pieces of work run at once; the others wait. Copying and hashing share four threads with everything else
 * in the process, so they must not crowd them. Who waits is served client by client in turn, and each client's work in the order
 * it came: a client that asks a thousand times delays only itself.
 */
export class StagingSlots {
  #free: number;
  /** Those who wait, by client; the client whose turn is next comes first. */
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
      // A slot is handed on, not freed and taken again, so that no newcomer can overtake.
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
    // To the end of the line, with what is left.
    this.#waiting.delete(client);
    if (queue.length > 0) this.#waiting.set(client, queue);
    return wake;
  }
}
