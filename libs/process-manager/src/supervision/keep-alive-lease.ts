/** State of a lease: not yet taken by its holder, held, released, or expired because it was not taken in time. */
export type LeaseState = 'unclaimed' | 'held' | 'released' | 'expired';

/**
 * Right of one client to keep a run alive. It can be taken once and expires if it is not taken in time; its timer does
 * not keep the daemon alive.
 */
export class KeepAliveLease {
  #state: LeaseState = 'unclaimed';
  readonly #clock: NodeJS.Timeout;

  constructor(timeoutMs: number, onExpired: () => void) {
    this.#clock = setTimeout(() => {
      this.#state = 'expired';
      onExpired();
    }, timeoutMs).unref();
  }

  get state(): LeaseState {
    return this.#state;
  }

  claim(): boolean {
    if (this.#state !== 'unclaimed') return false;
    this.#state = 'held';
    this.stopClock();
    return true;
  }

  /** Releases a held lease; returns false when it is not held. */
  release(): boolean {
    if (this.#state !== 'held') return false;
    this.#state = 'released';
    return true;
  }

  /** Stops the expiry: after a run has ended, its client may still take the lease. */
  stopClock(): void {
    clearTimeout(this.#clock);
  }
}
