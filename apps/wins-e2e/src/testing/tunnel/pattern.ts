import { randomBytes } from 'node:crypto';
import type { Readable, Writable } from 'node:stream';

/** A prime length, so that a lost, repeated or swapped piece never matches. */
const PERIOD = 1_048_573;
const PIECE = 64 * 1024;
const BYTES = randomBytes(PERIOD);
const ROUND = Buffer.concat([BYTES, BYTES]);

export async function writePattern(stream: Writable, sizeBytes: number): Promise<void> {
  for (let at = 0; at < sizeBytes && !stream.destroyed;) {
    const from = at % PERIOD;
    const length = Math.min(PIECE, sizeBytes - at);
    at += length;
    if (!stream.write(ROUND.subarray(from, from + length))) {
      await new Promise<void>((resolve) => {
        const done = (): void => {
          stream.off('drain', done).off('close', done);
          resolve();
        };
        stream.on('drain', done).on('close', done);
      });
    }
  }
}

/**
 * Compares every byte with the pattern.
 *
 * @returns Number of bytes.
 * @throws Error at the first difference.
 */
export async function readPattern(stream: Readable): Promise<number> {
  let at = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    for (let done = 0; done < chunk.length;) {
      const from = (at + done) % PERIOD;
      const length = Math.min(chunk.length - done, PERIOD);
      const wanted = ROUND.subarray(from, from + length);
      if (!wanted.equals(chunk.subarray(done, done + length))) {
        throw new Error(`the bytes from ${at + done} on differ`);
      }
      done += length;
    }
    at += chunk.length;
  }
  return at;
}
