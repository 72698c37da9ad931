/** `expired`: nobody claimed the lease in time. */
export type LeaseState = 'unclaimed' | 'held' | 'released' | 'expired';

/** The right to keep a run alive. It can be claimed once. Its timer does not keep the daemon's process alive. */
export class KeepAliveLease {
  #state: LeaseState = 'unclaimed';
  readonly #clock: NodeJS.Timeout;

  /** @param onExpired - Ends the run. If it returns false, because the run ends already, the lease can still be claimed. */
  constructor(timeoutMs: number, onExpired: () => boolean) {
    this.#clock = setTimeout(() => {
      if (onExpired()) this.#state = 'expired';
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

  /** Call when the run has ended. The lease then never expires, so the client can still claim it. */
  stopClock(): void {
    clearTimeout(this.#clock);
  }
}
