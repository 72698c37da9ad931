import { setImmediate as turn } from 'node:timers/promises';
import { call, OwnedHandle } from '../win32/calls/call.js';
import type { EventWaits } from '../win32/calls/event-waits.js';
import { loadKoffi } from '../win32/calls/system-library.js';
import { kernel32, type Handle } from '../win32/kernel32.js';
import { OVERLAPPED } from '../win32/structures.js';
import { systemError } from '../windows-error.js';

const NO_DATA = 232;
const PIPE_CONNECTED = 535;
const IO_PENDING = 997;

/** Waits for a client on one pipe instance after another. Call `close` only while no wait is in progress. */
export class ClientWait {
  readonly #event: OwnedHandle;
  /** Native memory, which does not move during an operation. */
  readonly #overlapped: bigint;
  readonly #waits: EventWaits;
  readonly #tried: string;
  #listening: Handle | undefined;
  #isClosed = false;
  constructor(eventWaits: EventWaits, tried: string) {
    this.#event = new OwnedHandle(call(tried, kernel32.CreateEventW, null, 1, 0, null));
    this.#overlapped = loadKoffi().alloc('uint8_t', OVERLAPPED.sizeBytes) as bigint;
    OVERLAPPED.write(this.#overlapped, { hEvent: this.#event.value });
    this.#waits = eventWaits;
    this.#tried = tried;
  }

  /**
   * Resolves in a later turn of the event loop: `true` when a client is connected, `false` when the client has left
   * or after `cancel`. After a rejection the instance is not listening.
   */
  async client(pipe: Handle): Promise<boolean> {
    const { ConnectNamedPipe, GetLastError, ResetEvent } = kernel32;
    ResetEvent(this.#event.value);
    const isIn = ConnectNamedPipe(pipe, this.#overlapped) !== 0;
    const state = isIn ? PIPE_CONNECTED : GetLastError();
    // Yields, so that a burst of clients cannot starve the event loop.
    if (state === PIPE_CONNECTED || state === NO_DATA) return turn(state === PIPE_CONNECTED);
    if (state !== IO_PENDING)
      throw systemError(this.#tried, { functionName: 'ConnectNamedPipe', errorNumber: state });
    this.#listening = pipe;
    try {
      await this.#waits.signalled(this.#event.value, this.#tried);
    } catch (error) {
      // The system must finish with `#overlapped` before the next wait uses it.
      this.cancel();
      this.#result(pipe, true);
      throw error;
    } finally {
      this.#listening = undefined;
    }
    return this.#result(pipe, false) === 0;
  }

  cancel(): void {
    // The call fails when the operation has already completed, which is fine.
    if (this.#listening !== undefined) kernel32.CancelIoEx(this.#listening, this.#overlapped);
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    loadKoffi().free(this.#overlapped);
    this.#event.close();
  }

  #result(pipe: Handle, wait: boolean): number {
    const { GetLastError, GetOverlappedResult } = kernel32;
    const isDone = GetOverlappedResult(pipe, this.#overlapped, [0], wait ? 1 : 0) !== 0;
    return isDone ? 0 : GetLastError();
  }
}
