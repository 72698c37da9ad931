import { errnoOf } from '@wins/base';

/** Records why a stream could not be written. A reader that closed the stream is not a failure: `wins … | head`. */
export class OutputFailure {
  readonly #stream: NodeJS.WriteStream;
  #error: Error | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    // Streams do not remember their error.
    stream.on('error', (error: Error) => (this.#error ??= error));
  }

  get found(): Error | undefined {
    const error = this.#error ?? this.#stream.errored ?? undefined;
    return error === undefined || errnoOf(error) === 'EPIPE' ? undefined : error;
  }
}
