import type { ImagePlatform } from './image-documents.js';
import { imageFailed } from './image-failure.js';
import type { ImageLimits } from './image-limits.js';
import type { Reference } from './reference.js';

/** What is looked for. */
export interface Wanted {
  readonly reference: Reference;
  readonly platform: ImagePlatform;
  readonly limits: ImageLimits;
}

/** An image whose documents are read, and whose layers can be. */
export interface FoundImage {
  /** The digests of its layers as they are unpacked, lowest first. */
  readonly diffIds: readonly string[];
  /** The bytes of its layers in the same order, compressed or not. Each is read to its end before the next is asked for. */
  layers(): AsyncIterable<AsyncIterable<Uint8Array>>;
}

/** @throws AgentError `imageFailed` when the config is about other layers. */
export function foundImage(
  diffIds: readonly string[],
  layers: number,
  open: FoundImage['layers'],
): FoundImage {
  if (diffIds.length === layers) return { diffIds, layers: open };
  throw imageFailed(
    'read an image',
    `${diffIds.length} digests in its config`,
    `one for each of ${layers} layers`,
  );
}
