import type { ClientIdentity } from './client-identity.js';

/** Calls of one client at a time: twice as many as it may have runs, each kept alive and followed. */
export const MOST_CALLS = 512;

/** Counts the calls of each client over all of its connections, so that one with many connections has no more than others. */
export class ClientCalls {
  readonly #calls = new Map<string, number>();

  /** Whether a call of a client may begin; `ended` must follow. Administrators, and clients that the system does not know, have no quota. */
  begin({ key, isAdministrator, isEverybody }: ClientIdentity): boolean {
    if (isAdministrator || isEverybody) return true;
    const calls = this.#calls.get(key) ?? 0;
    if (calls >= MOST_CALLS) return false;
    this.#calls.set(key, calls + 1);
    return true;
  }

  /** A call that began has ended. */
  ended({ key }: ClientIdentity): void {
    const calls = this.#calls.get(key) ?? 0;
    if (calls > 1) this.#calls.set(key, calls - 1);
    else this.#calls.delete(key);
  }
}
