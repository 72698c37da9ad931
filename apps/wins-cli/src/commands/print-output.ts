import type { HeldOutput } from '@wins/wins-api';
import { StandardOutput } from '../standard-output.js';

/** A piece of a run's output. Only that of a run in a keeper has a time. */
type RunPart = Exclude<HeldOutput, { readonly stream: 'end' }> & { readonly writtenAt?: Date };

export interface PrintOptions {
  readonly quiet: boolean;
  /** Begins each line with the time at which it was written. */
  readonly timestamps?: boolean;
}

const LINE_END = 0x0a;

/** Prints the output of a run to the two streams of this command. */
export class OutputPrinter implements Disposable {
  readonly out = new StandardOutput(process.stdout);
  readonly #errors = new StandardOutput(process.stderr);
  readonly #options: PrintOptions;
  readonly #isInLine = { stdout: false, stderr: false };

  constructor(options: PrintOptions) {
    this.#options = options;
  }

  /** Resolves also when nobody takes standard output or standard error any more. */
  readonly print = async (part: RunPart): Promise<void> => {
    const { quiet, timestamps = false } = this.#options;
    if (part.stream === 'skipped') {
      if (!quiet) process.stderr.write(`wins: ${part.bytes} bytes of output were dropped\n`);
      return;
    }
    const bytes = timestamps ? this.#stamped(part, part.writtenAt) : part.bytes;
    await (part.stream === 'stdout' ? this.out : this.#errors).write(bytes);
  };

  [Symbol.dispose](): void {
    this.out[Symbol.dispose]();
    this.#errors[Symbol.dispose]();
  }

  #stamped(
    { stream, bytes }: Exclude<RunPart, { readonly stream: 'skipped' }>,
    writtenAt = new Date(0),
  ): Buffer {
    const stamp = Buffer.from(`${writtenAt.toISOString()} `);
    const pieces: Buffer[] = [];
    for (let from = 0; from < bytes.length;) {
      if (!this.#isInLine[stream]) pieces.push(stamp);
      const end = bytes.indexOf(LINE_END, from) + 1 || bytes.length;
      pieces.push(bytes.subarray(from, end));
      this.#isInLine[stream] = bytes[end - 1] !== LINE_END;
      from = end;
    }
    return Buffer.concat(pieces);
  }
}
