import type { Socket } from 'node:net';

/**
 * Destroys connections whose peer has sent nothing within a time-out after they were added.
 *
 * The time-out is the same for all, so deadlines are in the order of arrival, and one timer serves any number of connections. The bytes are
 * counted by the socket's native handle, even when an HTTP/2 session reads from the handle directly; there is no work per byte.
 */
export class FirstByteDeadlines {
  readonly #timeoutMs: number;
  readonly #deadlines = new Map<Socket, number>();
  #timer: NodeJS.Timeout | undefined;

  /** @param timeoutMs maximum silence of a peer, in milliseconds. */
  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  add(connection: Socket): void {
    this.#deadlines.set(connection, performance.now() + this.#timeoutMs);
    this.#arm();
  }

  remove(connection: Socket): void {
    this.#deadlines.delete(connection);
    if (this.#deadlines.size === 0) this.#disarm();
  }

  #arm(): void {
    if (this.#timer !== undefined) return;
    const [first] = this.#deadlines.values();
    if (first === undefined) return;
    const waitMs = Math.max(1, Math.ceil(first - performance.now()));
    this.#timer = setTimeout(() => {
      const now = performance.now();
      // After a stall of the event loop, timers run before the bytes that arrived meanwhile are read. An immediate runs after
      // the read, so that the peer is not blamed for our delay.
      setImmediate(() => this.#sweep(now));
    }, waitMs);
  }

  #sweep(now: number): void {
    for (const [connection, deadline] of this.#deadlines) {
      if (deadline > now) break;
      this.#deadlines.delete(connection);
      if (connection.bytesRead === 0) connection.destroy();
    }
    this.#disarm();
    this.#arm();
  }

  #disarm(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}
