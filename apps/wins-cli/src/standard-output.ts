import { errnoOf } from '@wins/base';
import { readerProbe } from './system/system-calls.js';

/** Interval between two looks at a watched reader. */
const WATCH_MS = 200;

/** The output stream of a command. Only this class decides whether the reader, such as `head`, is still there. */
export class StandardOutput implements Disposable {
  readonly #stream: NodeJS.WriteStream & { readonly fd?: number };
  readonly #gone = new AbortController();
  #error: Error | undefined;
  #watching: NodeJS.Timeout | undefined;
  #isDisposed = false;

  constructor(stream: NodeJS.WriteStream = process.stdout) {
    this.#stream = stream;
    // Kept here, because Node clears `errored` and `destroyed` of standard output after an error.
    stream.on('error', this.#failed);
    stream.on('close', this.#left);
  }

  /** Aborts when nobody takes the output any more: the reader has closed the stream, or a write has failed. */
  get gone(): AbortSignal {
    return this.#gone.signal;
  }

  /** Error of a write. Undefined if the reader closed the stream, as in `wins … | head`. */
  get failure(): Error | undefined {
    const error = this.#error ?? this.#stream.errored ?? undefined;
    return error === undefined || errnoOf(error) === 'EPIPE' ? undefined : error;
  }

  /** Notices that the reader leaves although nothing is written. Only on Linux; elsewhere the next write tells. */
  watch(): this {
    const { isTTY, fd } = this.#stream;
    if (!isTTY && fd !== undefined) this.#watch(readerProbe(fd));
    return this;
  }

  #watch(hasLeft: (() => boolean) | undefined): void {
    if (hasLeft === undefined || this.#isDisposed) return;
    this.#watching = setInterval(() => {
      if (hasLeft()) this.#left();
    }, WATCH_MS).unref();
  }

  /** Waits while the reader is slow; resolves with false when nobody takes the output any more. */
  async write(bytes: Buffer): Promise<boolean> {
    const { aborted } = this.gone;
    if (aborted || this.#stream.write(bytes)) return !aborted;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#stream.off('drain', done);
        this.gone.removeEventListener('abort', done);
        resolve();
      };
      this.#stream.on('drain', done);
      this.gone.addEventListener('abort', done);
    });
    return !this.gone.aborted;
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true;
    this.#stream.off('error', this.#failed);
    this.#stream.off('close', this.#left);
    clearInterval(this.#watching);
  }

  readonly #failed = (error: Error): void => {
    this.#error ??= error;
    this.#left();
  };

  readonly #left = (): void => this.#gone.abort();
}
