import type { Abortable } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { systemClock, type Clock } from './clock.js';

/** The pass of a {@link Reconciler}, and its delays after failures. */
export interface ReconcilerOptions<Desired> {
  /**
   * Makes the actual state the desired one. Resolves with the milliseconds until the next pass. Without a number, no other pass is
   * due until one is requested.
   *
   * @param signal - Aborts when another value is desired, and on close. The pass may go on, and its end is waited for.
   */
  readonly pass: (
    desired: Desired,
    signal: AbortSignal,
  ) => Promise<number | undefined> | Promise<void>;
  /**
   * Called for each pass that rejects, even if its signal has aborted. Must not throw. Returns the milliseconds until the next pass,
   * such as those of `backoffMs`.
   *
   * @param failures - Number of failures since the last success, or since this value is desired. At least 1.
   */
  readonly onFailure: (error: unknown, failures: number) => number;
  /** Default: `systemClock`. */
  readonly clock?: Clock | undefined;
}

interface Caller {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Keeps an actual state as desired by passes, one at a time. A new desired value, or `wake`, requests a pass. No pass runs before
 * the first request, or after `close`.
 */
export class Reconciler<Desired> implements AsyncDisposable {
  readonly #options: ReconcilerOptions<Desired>;
  readonly #clock: Clock;
  readonly #closing = new AbortController();
  #wanted: { readonly desired: Desired; failures: number };
  #isRunning = false;
  #working = Promise.resolve();
  #pass = new AbortController();
  /** Aborts when another pass is requested, and on close. */
  #wake = new AbortController();
  /** Each waits for a pass that begins after its call. */
  #callers: Caller[] = [];

  constructor(desired: Desired, options: ReconcilerOptions<Desired>) {
    this.#wanted = { desired, failures: 0 };
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
  }

  get desired(): Desired {
    return this.#wanted.desired;
  }

  /** Aborts on close, with its reason. */
  get closing(): AbortSignal {
    return this.#closing.signal;
  }

  /** Changes the desired value and wakes, unless the value equals the present one. */
  want(desired: Desired): void {
    if (isDeepStrictEqual(desired, this.desired)) return;
    this.#wanted = { desired, failures: 0 };
    this.#pass.abort();
    this.wake();
  }

  /** Requests a pass. It begins within the call, unless another pass or a wait must end before. Does nothing after `close`. */
  wake(): void {
    if (this.closing.aborted) return;
    this.#wake.abort();
    if (this.#isRunning) return;
    this.#isRunning = true;
    this.#working = this.#run();
  }

  /**
   * Wakes, and resolves when a pass that began after this call has ended, even if it failed.
   *
   * @throws The signal's reason; the reason of `close` if no such pass has begun before.
   */
  async reconcile({ signal }: Abortable = {}): Promise<void> {
    signal?.throwIfAborted();
    this.closing.throwIfAborted();
    let abort = (): void => undefined;
    const passed = new Promise<void>((resolve, reject) => {
      abort = () => reject(signal?.reason as Error);
      signal?.addEventListener('abort', abort);
      this.#callers.push({ resolve, reject });
      this.wake();
    });
    await passed.finally(() => signal?.removeEventListener('abort', abort));
  }

  /** Aborts the pass in progress and waits for its end. Idempotent; never rejects. */
  async close(reason?: Error): Promise<void> {
    this.#closing.abort(reason);
    this.#wake.abort();
    this.#pass.abort(this.closing.reason);
    for (const { reject } of this.#callers.splice(0)) reject(this.closing.reason);
    await this.#working;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #run(): Promise<void> {
    for (let isOver = false; !isOver;) {
      const { signal: woken } = (this.#wake = new AbortController());
      const callers = this.#callers.splice(0);
      const waitMs = await this.#runPass();
      for (const { resolve } of callers) resolve();
      if (waitMs !== undefined && !woken.aborted)
        await this.#clock.wait(waitMs, { signal: woken }).catch(() => undefined);
      isOver = this.closing.aborted || (waitMs === undefined && !woken.aborted);
    }
    this.#isRunning = false;
  }

  async #runPass(): Promise<number | undefined> {
    const wanted = this.#wanted;
    this.#pass = new AbortController();
    try {
      const waitMs = await this.#options.pass(wanted.desired, this.#pass.signal);
      wanted.failures = 0;
      return typeof waitMs === 'number' ? waitMs : undefined;
    } catch (error) {
      wanted.failures += 1;
      return this.#options.onFailure(error, wanted.failures);
    }
  }
}
