import { NetError } from '../net-error.js';
import { networkFailure, type RequestFacts, type Stage } from './network-failure.js';

interface Destroyable {
  destroy(error?: Error): unknown;
}

/** Resources of one request. Only the first reason to end the request is kept. */
export class RequestLifetime {
  readonly facts: RequestFacts;
  #cause: NetError | undefined;
  readonly #owned = new Set<Destroyable>();
  readonly #timer: NodeJS.Timeout | undefined;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort = (): void => this.end(this.#aborted());

  constructor(facts: RequestFacts, totalMs: number, signal: AbortSignal | undefined) {
    this.facts = facts;
    this.#signal = signal;
    this.#timer = after(totalMs, () => this.end(this.#late('it had not ended', totalMs)));
    signal?.addEventListener('abort', this.#onAbort);
    if (signal?.aborted === true) this.end(this.#aborted());
  }

  get isOver(): boolean {
    return this.#cause !== undefined;
  }

  /** If the request was ended early, returns the reason, not the error that followed. */
  failure(error: unknown, stage: Stage, peer: string): NetError {
    return this.#cause ?? networkFailure(error, stage, peer, this.facts);
  }

  own<T extends Destroyable>(one: T): T {
    this.#owned.add(one);
    return one;
  }

  handOver(one: Destroyable): void {
    this.#owned.clear();
    this.#owned.add(one);
  }

  end(cause: NetError): void {
    if (this.#cause !== undefined) return;
    this.#cause = cause;
    this.#release(cause);
  }

  /** Ends the request when `action` takes longer than `ms`. @param found - For the message, such as `it sent nothing`. */
  async within<T>(ms: number, found: string, action: () => Promise<T>): Promise<T> {
    const timer = after(ms, () => this.end(this.#late(found, ms)));
    try {
      if (this.#cause !== undefined) throw this.#cause;
      return await action();
    } finally {
      clearTimeout(timer);
    }
  }

  close(): void {
    this.#release();
  }

  #release(cause?: NetError): void {
    clearTimeout(this.#timer);
    this.#signal?.removeEventListener('abort', this.#onAbort);
    for (const one of this.#owned) one.destroy(cause);
    this.#owned.clear();
  }

  #late(found: string, ms: number): NetError {
    const message = `cannot ${this.facts.what}: ${found} within ${ms} ms`;
    return new NetError('timedOut', message, { isTransient: true });
  }

  #aborted(): NetError {
    return new NetError('aborted', `cannot ${this.facts.what}: it was aborted`, {
      cause: this.#signal?.reason,
    });
  }
}

const after = (ms: number, action: () => void) =>
  ms === Infinity ? undefined : setTimeout(action, ms);
