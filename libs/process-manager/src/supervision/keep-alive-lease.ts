/** Where a lease is: waiting for its one holder, held, given back, or expired because it was not claimed. */
export type LeaseState = 'unclaimed' | 'held' | 'released' | 'expired';

/**
 * The right of one client to keep a run alive. It can be claimed once; when it is not
 * claimed in time it expires; its timer does not keep the daemon alive.
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

  /** Gives a held lease back; false when it is not held. */
  release(): boolean {
    if (this.#state !== 'held') return false;
    this.#state = 'released';
    return true;
  }

  /** An unclaimed lease no longer expires: the run has ended, but its client may still come. */
  stopClock(): void {
    clearTimeout(this.#clock);
  }
}
