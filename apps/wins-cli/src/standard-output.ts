import { once } from 'node:events';
import { readerProbe } from './system/system-calls.js';

/** Interval between two looks at a watched reader. */
const WATCH_MS = 200;

/** The output stream of a command. Only this class decides whether the reader, such as `head`, is still there. */
export class StandardOutput implements Disposable {
  readonly #stream: NodeJS.WriteStream & { readonly fd?: number };
  readonly #gone = new AbortController();
  #watching: NodeJS.Timeout | undefined;

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#stream = stream;
    // Kept here, because Node clears `errored` and `destroyed` of standard output after an error.
    stream.on('error', this.#left);
    stream.on('close', this.#left);
  }

  /** Aborts when nobody takes the output any more: the reader has closed the stream, or a write has failed. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Notices that the reader leaves although nothing is written. Only on Linux; elsewhere the next write tells. */
  watch(): this {
    const { isTTY, fd } = this.#stream;
    const hasLeft = isTTY || fd === undefined ? undefined : readerProbe(fd);
    if (hasLeft !== undefined)
      this.#watching = setInterval(() => {
        if (hasLeft()) this.#left();
      }, WATCH_MS).unref();
    return this;
  }

  /** Waits while the reader is slow; resolves also when nobody takes the output any more. */
  async write(bytes: Buffer): Promise<void> {
    const { gone: signal } = this;
    if (signal.aborted || this.#stream.write(bytes)) return;
    await once(this.#stream, 'drain', { signal }).catch(() => undefined);
  }

  [Symbol.dispose](): void {
    this.#stream.off('error', this.#left);
    this.#stream.off('close', this.#left);
    clearInterval(this.#watching);
  }

  readonly #left = (): void => this.#gone.abort();
}
