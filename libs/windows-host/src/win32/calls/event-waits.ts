import { check, type Handle } from '../kernel32.js';
import {
  INFINITE,
  WAIT_FOR_CALLBACKS,
  waits,
  WT_EXECUTELONGFUNCTION,
  WT_EXECUTEONLYONCE,
  type Callback,
} from './waits.js';

/**
 * Tells JavaScript when events are signalled, without a thread per event.
 *
 * A thread of the system calls back, and waits until JavaScript has run the call. To wait for that thread from within the call,
 * or before the call, would be to wait for oneself: so a wait is only undone after its call has returned, and every wait
 * must have come to its end before `close`. To give up, a caller sets the event; it cannot undo the wait.
 */
export class EventWaits {
  readonly #pending = new Map<number, () => void>();
  readonly #callback: Callback;
  #count = 0;
  #isClosed = false;

  constructor() {
    this.#callback = waits().registerCallback((context) => this.#pending.get(context)?.());
  }

  /**
   * Resolves when the event is signalled.
   *
   * @throws WindowsError when it cannot be waited for.
   */
  async signalled(event: Handle, tried: string): Promise<void> {
    const { RegisterWaitForSingleObject, UnregisterWaitEx } = waits();
    const context = (this.#count += 1);
    const wait: [Handle] = [0];
    const called = new Promise<void>((resolve) => {
      // The turn after the call: it has returned to its thread by then.
      this.#pending.set(context, () => setImmediate(resolve));
    });
    try {
      const isWaiting =
        RegisterWaitForSingleObject(
          wait,
          event,
          this.#callback,
          context,
          INFINITE,
          WT_EXECUTEONLYONCE | WT_EXECUTELONGFUNCTION,
        ) !== 0;
      check(isWaiting, 'RegisterWaitForSingleObject', tried);
      await called;
    } finally {
      this.#pending.delete(context);
    }
    UnregisterWaitEx(wait[0], WAIT_FOR_CALLBACKS);
  }

  /** Idempotent. @throws RangeError while an event is waited for. */
  close(): void {
    if (this.#pending.size > 0) throw new RangeError('closed while an event is waited for');
    if (this.#isClosed) return;
    this.#isClosed = true;
    waits().unregisterCallback(this.#callback);
  }
}
