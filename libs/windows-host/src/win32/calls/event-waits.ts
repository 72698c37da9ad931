import { INFINITE, INVALID_HANDLE_VALUE, kernel32, type Handle } from '../kernel32.js';
import { call } from './call.js';
import { lazily, loadKoffi } from './system-library.js';

const WT_EXECUTEONLYONCE = 0x8;
/** The callback may block, because it waits for the JavaScript thread. */
const WT_EXECUTELONGFUNCTION = 0x10;
/** Makes `UnregisterWaitEx` wait until no callback runs. */
const WAIT_FOR_CALLBACKS = INVALID_HANDLE_VALUE;

// https://learn.microsoft.com/windows/win32/api/winnt/nc-winnt-waitortimercallback
const waitCallback = lazily(() => {
  const koffi = loadKoffi();
  return koffi.pointer(koffi.proto('void', ['uint64_t', 'uint8_t']));
});

/**
 * Notifies JavaScript when objects such as events and processes are signalled, without a thread per object.
 *
 * A system thread blocks until JavaScript has run the callback. `UnregisterWaitEx` waits for that thread, so calling it
 * in the callback would deadlock. Every wait must have ended before `close`. To cancel a wait, set its event.
 */
export class EventWaits {
  readonly #pending = new Map<number, () => void>();
  readonly #callback = loadKoffi().register(
    (context: number) => this.#pending.get(context)?.(),
    waitCallback(),
  );
  #count = 0;
  #isClosed = false;

  /** Resolves when the object is signalled; does not keep the process alive. @throws WindowsError synchronously if registration fails. */
  signalled(object: Handle, tried: string): Promise<void> {
    const context = (this.#count += 1);
    const wait: [Handle] = [0];
    const flags = WT_EXECUTEONLYONCE | WT_EXECUTELONGFUNCTION;
    const { RegisterWaitForSingleObject, UnregisterWaitEx } = kernel32;
    const callback = this.#callback;
    call(tried, RegisterWaitForSingleObject, wait, object, callback, context, INFINITE, flags);
    return new Promise((resolve) => {
      this.#pending.set(context, () =>
        // Defer until the callback has returned to its thread.
        setImmediate(() => {
          this.#pending.delete(context);
          UnregisterWaitEx(wait[0], WAIT_FOR_CALLBACKS);
          resolve();
        }),
      );
    });
  }

  /** Idempotent. @throws RangeError while a wait is pending. */
  close(): void {
    if (this.#pending.size > 0) throw new RangeError('closed while a wait is pending');
    if (this.#isClosed) return;
    this.#isClosed = true;
    loadKoffi().unregister(this.#callback);
  }
}

/** Keeps the event loop alive until the object is signalled. @throws WindowsError synchronously. */
export function signalledOnce(object: Handle, tried: string): Promise<void> {
  const waits = new EventWaits();
  const keepAlive = setInterval(() => undefined, 2 ** 30);
  const close = (): void => {
    clearInterval(keepAlive);
    waits.close();
  };
  try {
    return waits.signalled(object, tried).finally(close);
  } catch (error) {
    close();
    throw error;
  }
}
