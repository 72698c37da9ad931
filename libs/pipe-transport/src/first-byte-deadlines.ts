import type { Socket } from 'node:net';

/**
 * Destroys connections whose peer sends nothing within a time-out.
 *
 * All connections have the same time-out, so one timer checks them in the order of arrival. `bytesRead` comes from the
 * native handle, so it is correct even if an HTTP/2 session reads from the handle directly.
 */
export class FirstByteDeadlines {
  readonly #timeoutMs: number;
  readonly #deadlines = new Map<Socket, number>();
  #timer: NodeJS.Timeout | undefined;

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
      // After a stall of the event loop, timers run before the bytes that arrived meanwhile are read. An immediate runs
      // after the read, so that our delay does not end the connection.
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
