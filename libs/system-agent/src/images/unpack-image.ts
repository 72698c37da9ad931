import { checkedBytes } from './checked-bytes.js';
import { decompress, LAYER_COMPRESSIONS } from './compression/decompress.js';
import type { FoundImage } from './found-image.js';
import { asImageError, imageFailed } from './image-failure.js';
import type { ImageLimits } from './image-limits.js';
import { applyLayer } from './unpack/apply-layer.js';
import type { FileSystemOs } from './unpack/entry-path.js';
import { ImageFolder } from './unpack/image-folder.js';
import { Subtree } from './unpack/subtree.js';

/** Where an image is unpacked, and what of it. */
export interface UnpackOptions {
  readonly folder: string;
  readonly subtree?: string | undefined;
  readonly os: FileSystemOs;
  readonly limits: ImageLimits;
  readonly signal: AbortSignal;
}

/** @throws AgentError `imageFailed`, `unreachable`; the reason of the signal. What was unpacked by then stays. */
export async function unpackImage(image: FoundImage, options: UnpackOptions): Promise<void> {
  const { diffIds } = image;
  const { limits, signal } = options;
  if (diffIds.length > limits.layers)
    throw imageFailed('unpack an image', `${diffIds.length} layers`, `at most ${limits.layers}`);
  let entries = 0;
  let pathUnits = 0;
  let unpackedBytes = 0;
  const countEntry = (path: string): void => {
    signal.throwIfAborted();
    entries += 1;
    pathUnits += path.length;
    if (entries > limits.entries)
      throw imageFailed('unpack an image', 'more entries', `at most ${limits.entries}`);
    if (pathUnits > limits.pathUnits)
      throw imageFailed('unpack an image', 'longer paths', `at most ${limits.pathUnits} in all`);
  };
  const place = {
    folder: await ImageFolder.open(options.folder, countEntry),
    subtree: new Subtree(options.subtree),
    os: options.os,
    countEntry,
  };
  async function* counted(bytes: AsyncIterable<Uint8Array>) {
    for await (const chunk of bytes) {
      signal.throwIfAborted();
      unpackedBytes += chunk.length;
      yield chunk;
    }
  }
  // Nothing of a base image is below a folder of programs.
  let index = options.subtree === undefined ? 0 : image.baseLayers;
  for await (const bytes of image.layers(index)) {
    const unpacked = checkedBytes(decompress(bytes, LAYER_COMPRESSIONS), {
      what: `unpack layer ${index + 1}`,
      maxBytes: limits.unpackedBytes - unpackedBytes,
      digest: diffIds[index],
    });
    try {
      await applyLayer(counted(unpacked), place);
    } catch (error) {
      signal.throwIfAborted();
      throw asImageError(error, `unpack layer ${index + 1}`);
    }
    index += 1;
  }
}
