import { RancherError } from '../rancher-error.js';

interface Destroyable {
  destroy(error?: Error): unknown;
}

export interface LifetimeOptions {
  /** What is done, as the end of "cannot". */
  readonly what: string;
  readonly totalMs: number;
  readonly signal: AbortSignal | undefined;
}

/** All that one request holds, from the name of the server to the last byte of its answer. Why it ended is set once. */
export class RequestLifetime {
  readonly what: string;
  #cause: RancherError | undefined;
  readonly #owned = new Set<Destroyable>();
  readonly #timer: NodeJS.Timeout;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.end(this.#aborted());

  constructor({ what, totalMs, signal }: LifetimeOptions) {
    this.what = what;
    this.#signal = signal;
    this.#timer = setTimeout(() => this.end(this.#late('it had not ended', totalMs)), totalMs);
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted === true) this.end(this.#aborted());
  }

  /** Why it ended, if it did before its time. */
  get cause(): RancherError | undefined {
    return this.#cause;
  }

  /** What is destroyed when it ends. */
  own<T extends Destroyable>(one: T): T {
    this.#owned.add(one);
    return one;
  }

  end(cause: RancherError): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    this.#release(cause);
  }

  /** Ends all of it when a part takes longer. @param found - What is then told: `it sent nothing`. */
  async within<T>(ms: number, found: string, act: () => Promise<T>): Promise<T> {
    const timer = setTimeout(() => this.end(this.#late(found, ms)), ms);
    try {
      if (this.#cause !== undefined) throw this.#cause;
      return await act();
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#release();
  }

  #release(cause?: RancherError): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    for (const one of this.#owned) one.destroy(cause);
    this.#owned.clear();
  }

  #late(found: string, ms: number): RancherError {
    const message = `cannot ${this.what}: ${found} within ${ms} ms`;
    return new RancherError('timedOut', message, { isTransient: true });
  }

  #aborted(): RancherError {
    return new RancherError('aborted', `cannot ${this.what}: it was aborted`);
  }
}
