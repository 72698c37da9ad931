/** `expired`: nobody took the lease in time. */
export type LeaseState = 'unclaimed' | 'held' | 'released' | 'expired';

/** Right of one client to keep a run alive, taken at most once. Its timer does not keep the daemon alive. */
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

  release(): boolean {
    if (this.#state !== 'held') return false;
    this.#state = 'released';
    return true;
  }

  /** Call when the run has ended: the lease then never expires, so the client may still take it. */
  stopClock(): void {
    clearTimeout(this.#clock);
  }
}
