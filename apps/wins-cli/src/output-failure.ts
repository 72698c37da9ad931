import { errnoOf } from '@wins/base';

/** Learns why a stream could not be written. That its reader has left is no failure: `wins … | head`. */
export class OutputFailure {
  readonly #stream: NodeJS.WriteStream;
  #error: Error | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    // The stream itself forgets it.
    stream.on('error', (error: Error) => (this.#error ??= error));
  }

  /** The first error; undefined while there is none. */
  get found(): Error | undefined {
    const error = this.#error ?? this.#stream.errored ?? undefined;
    return error === undefined || errnoOf(error) === 'EPIPE' ? undefined : error;
  }
}
