import { setImmediate as turn } from 'node:timers/promises';
import type { EventWaits } from '../win32/calls/event-waits.js';
import { check, kernel32, type Handle } from '../win32/kernel32.js';
import { namedPipes } from '../win32/named-pipes.js';
import { overlappedCalls, type Overlapped } from '../win32/calls/overlapped.js';
import { OwnedHandle } from '../win32/calls/owned-handle.js';
import { waits } from '../win32/calls/waits.js';
import { systemError } from '../windows-error.js';

const NO_DATA = 232;
const PIPE_CONNECTED = 535;
const IO_PENDING = 997;

/** Waits for the clients of one instance of a pipe after the other. Its owner closes it when no wait is under way. */
export class ClientWait {
  readonly #event: OwnedHandle;
  readonly #overlapped: Overlapped;
  readonly #waits: EventWaits;
  readonly #tried: string;
  #listening: Handle | undefined;
  #isClosed = false;

  /**
   * @param tried begins the message of an error: what was tried and on what.
   * @throws WindowsError
   */
  constructor(eventWaits: EventWaits, tried: string) {
    const event = waits().CreateEventW(null, 1, 0, null);
    check(event !== 0, 'CreateEventW', tried);
    this.#event = new OwnedHandle(event);
    this.#overlapped = overlappedCalls().newOverlapped(event);
    this.#waits = eventWaits;
    this.#tried = tried;
  }

  /**
   * Resolves when a client is there, in another turn of the event loop: with `true`, or with `false` when it has come and gone
   * or after `cancel`.
   *
   * @throws WindowsError when the instance cannot listen; it is not listening then.
   */
  async client(pipe: Handle): Promise<boolean> {
    waits().ResetEvent(this.#event.value);
    const isIn = namedPipes().ConnectNamedPipe(pipe, this.#overlapped) !== 0;
    const state = isIn ? PIPE_CONNECTED : kernel32().GetLastError();
    if (state === PIPE_CONNECTED || state === NO_DATA)
      // Yields, so that a burst of clients cannot starve the event loop.
      return turn(state === PIPE_CONNECTED);
    if (state !== IO_PENDING)
      throw systemError(this.#tried, { functionName: 'ConnectNamedPipe', errorNumber: state });
    this.#listening = pipe;
    try {
      await this.#waits.signalled(this.#event.value, this.#tried);
    } catch (error) {
      // The system must be done with the memory of the operation before another caller uses it.
      this.cancel();
      this.#result(pipe, true);
      throw error;
    } finally {
      this.#listening = undefined;
    }
    return this.#result(pipe, false) === 0;
  }

  /** Makes a `client` that is under way end. */
  cancel(): void {
    // It fails when the operation has come to its end by itself, which is what is wanted.
    if (this.#listening !== undefined)
      overlappedCalls().CancelIoEx(this.#listening, this.#overlapped);
  }

  /** Idempotent. */
  close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    overlappedCalls().freeOverlapped(this.#overlapped);
    this.#event.close();
  }

  #result(pipe: Handle, wait: boolean): number {
    const isDone =
      overlappedCalls().GetOverlappedResult(pipe, this.#overlapped, [0], wait ? 1 : 0) !== 0;
    return isDone ? 0 : kernel32().GetLastError();
  }
}
