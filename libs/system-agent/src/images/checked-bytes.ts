import { createHash } from 'node:crypto';
import { imageFailed } from './image-failure.js';

export interface Expected {
  /** The operation, for errors: `read a layer`. */
  readonly what: string;
  readonly maxBytes: number;
  readonly size?: number;
  readonly digest?: string | undefined;
}

/**
 * Passes bytes on as they arrive, and throws at the end unless they match: until then they may be wrong.
 * @throws AgentError `imageFailed`, as soon as there are too many; what the input throws.
 */
export async function* checkedBytes(
  bytes: AsyncIterable<Uint8Array>,
  { what, maxBytes, size, digest }: Expected,
): AsyncGenerator<Uint8Array> {
  const limit = Math.min(maxBytes, size ?? maxBytes);
  if (size !== undefined && size > maxBytes)
    throw imageFailed(what, `${size} bytes`, `at most ${maxBytes}`);
  const hash = createHash('sha256');
  let count = 0;
  for await (const chunk of bytes) {
    count += chunk.length;
    if (count > limit) throw imageFailed(what, `more than ${limit} bytes`, `at most ${limit}`);
    hash.update(chunk);
    yield chunk;
  }
  if (size !== undefined && count !== size) throw imageFailed(what, `${count} bytes`, `${size}`);
  const found = `sha256:${hash.digest('hex')}`;
  if (digest !== undefined && found !== digest)
    throw imageFailed(what, `the digest ${found}`, digest);
}

/** @throws as {@link checkedBytes}. */
export async function readDocument(
  bytes: AsyncIterable<Uint8Array>,
  expected: Expected,
): Promise<Buffer> {
  const parts: Uint8Array[] = [];
  for await (const chunk of checkedBytes(bytes, expected)) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}
