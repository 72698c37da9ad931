import { INVALID_HANDLE_VALUE, kernel32, type Handle } from '../kernel32.js';

/** A HANDLE that is closed once, by the owner of this object. */
export class OwnedHandle implements Disposable {
  readonly #free: (handle: Handle) => void;
  #value: Handle | undefined;

  /** Takes over a handle that a call returned and that is valid. */
  constructor(value: Handle, free = (handle: Handle) => void kernel32.CloseHandle(handle)) {
    if (value === 0 || value === INVALID_HANDLE_VALUE) throw new RangeError(`no handle: ${value}`);
    this.#value = value;
    this.#free = free;
  }

  /** @throws RangeError after `close` or `release`. */
  get value(): Handle {
    if (this.#value === undefined) throw new RangeError('used a handle that is closed');
    return this.#value;
  }

  /** Gives the handle up: the caller closes it. */
  release(): Handle {
    const { value } = this;
    this.#value = undefined;
    return value;
  }

  /** Idempotent. */
  close(): void {
    if (this.#value !== undefined) this.#free(this.release());
  }

  [Symbol.dispose](): void {
    this.close();
  }
}
