import { createHash } from 'node:crypto';
import { imageFailed } from './image-failure.js';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** Exceeding a limit fails with `imageFailed`. */
export interface ImageLimits {
  /** Size of a manifest, an index or a config. Default: 1 MiB. */
  readonly documentBytes: number;
  /** Stored size of one layer. Default: 4 GiB. */
  readonly layerBytes: number;
  /** Default: 256. */
  readonly layers: number;
  /** Unpacked size of all layers, including discarded content. Default: 16 GiB. */
  readonly unpackedBytes: number;
  /** Number of files, folders and links in all layers, including implied parent folders. Default: 500,000. */
  readonly entries: number;
  /** Total length of all paths, in UTF-16 units. Unpacking keeps them in memory. Default: 64 Mi. */
  readonly pathUnits: number;
  /** Longest wait for an answer's start or its next bytes. Default: 30 s. */
  readonly idleMs: number;
  /** Time limit for a whole image. Default: two hours. */
  readonly totalMs: number;
}

export const DEFAULT_IMAGE_LIMITS: ImageLimits = {
  documentBytes: MIB,
  layerBytes: 4 * GIB,
  layers: 256,
  unpackedBytes: 16 * GIB,
  entries: 500_000,
  pathUnits: 64 * MIB,
  idleMs: 30_000,
  totalMs: 2 * 60 * 60 * 1000,
};

export interface Expected {
  readonly what: string;
  readonly maxBytes: number;
  readonly size?: number;
  readonly digest?: string | undefined;
}

/**
 * Yields bytes as they arrive, before they are verified. Throws at the end unless size and digest match.
 * @throws AgentError `imageFailed`, immediately when there are too many bytes; errors of the input.
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

export async function readDocument(bytes: AsyncIterable<Uint8Array>, expected: Expected) {
  const parts: Uint8Array[] = [];
  for await (const chunk of checkedBytes(bytes, expected)) parts.push(Buffer.from(chunk));
  return Buffer.concat(parts);
}
