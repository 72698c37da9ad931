import { errnoOf, messageOf } from '@wins/base';
import { fileSystemError } from '@wins/trusted-files';
import { CommandError } from './command-error.js';

export function outputError(tried: string, cause: Error): CommandError {
  return new CommandError(`cannot write ${tried}: ${foundIn(cause)}`, undefined, { cause });
}

export function foundIn(cause: unknown): string {
  const error = fileSystemError(cause, 'write', '');
  return error instanceof Object && 'found' in error ? String(error.found) : messageOf(error);
}

/** Keeps the write error of a stream, but ignores a reader that closed it, as in `wins … | head`. */
export class OutputFailure {
  readonly #stream: NodeJS.WriteStream;
  #error: Error | undefined;

  constructor(stream: NodeJS.WriteStream) {
    this.#stream = stream;
    // Kept here, because Node clears `errored` of standard output after an error.
    stream.on('error', (error: Error) => (this.#error ??= error));
  }

  get found(): Error | undefined {
    const error = this.#error ?? this.#stream.errored ?? undefined;
    return error === undefined || errnoOf(error) === 'EPIPE' ? undefined : error;
  }
}

/** Waits while the reader is slow; resolves with false when the reader has closed the stream. */
export async function writeAll(stream: NodeJS.WriteStream, bytes: Buffer): Promise<boolean> {
  if (stream.destroyed || stream.errored) return false;
  if (stream.write(bytes)) return true;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      stream.off('drain', done);
      stream.off('close', done);
      resolve();
    };
    stream.on('drain', done);
    stream.on('close', done);
  });
  return !stream.destroyed;
}
