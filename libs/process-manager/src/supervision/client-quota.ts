import { ProcessError } from '../process-error.js';

/** What each client has at a time, counted by its key. Keys of which nothing is left are forgotten. */
export class ClientQuota {
  readonly #limit: number;
  readonly #counts = new Map<string, number>();

  /** @param limit - The most that one client may have. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /**
   * Takes one place for a client.
   *
   * @returns gives the place back; idempotent.
   * @throws ProcessError `tooManyProcesses`.
   */
  take(client: string): () => void {
    const count = this.#counts.get(client) ?? 0;
    if (count >= this.#limit) {
      const message = `cannot start a run for this client: found ${count} starting or running; wanted fewer than ${this.#limit}`;
      throw new ProcessError('tooManyProcesses', message, { rule: 'A55 processes of one client' });
    }
    this.#counts.set(client, count + 1);
    let taken = true;
    return () => {
      if (!taken) return;
      taken = false;
      const left = (this.#counts.get(client) ?? 1) - 1;
      if (left > 0) this.#counts.set(client, left);
      else this.#counts.delete(client);
    };
  }
}
