import type { ImageConfig, ImagePlatform } from './image-documents.js';
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
  /** How many of the lowest layers are Microsoft's base image of Windows, of whose `Files` none is in a folder of a program. */
  readonly baseLayers: number;
  /**
   * The bytes of its layers in the same order, compressed or not. Each is read to its end before the next is asked for.
   *
   * @param first - How many of the lowest are left out.
   */
  layers(first: number): AsyncIterable<AsyncIterable<Uint8Array>>;
}

/** What an image is made of. */
export interface ImageParts {
  readonly config: ImageConfig;
  /** As many as it has; of an archive of Docker nothing else is known of them. */
  readonly layers: readonly { readonly mediaType?: string | undefined }[];
  readonly open: FoundImage['layers'];
}

/** @throws AgentError `imageFailed` when the config is about other layers. */
export function foundImage({ config, layers, open }: ImageParts): FoundImage {
  const { diffIds } = config;
  if (diffIds.length === layers.length)
    return { diffIds, baseLayers: baseLayersOf(config, layers), layers: open };
  throw imageFailed(
    'read an image',
    `${diffIds.length} digests in its config`,
    `one for each of ${layers.length} layers`,
  );
}

/** A layer that only Microsoft gives out. */
const NOT_DISTRIBUTED = /nondistributable|foreign/;
/** As Microsoft makes base images; what a Dockerfile does has other words. */
const OF_BASE = /^(?:Apply image|Install update) /;

/** Of the layers from the lowest on: one above another kind of layer is not one of the base, whatever it says of itself. */
function baseLayersOf({ os, madeBy }: ImageConfig, layers: ImageParts['layers']): number {
  if (os !== 'windows') return 0;
  const isTold = madeBy.length === layers.length;
  const first = layers.findIndex(
    ({ mediaType = '' }, index) =>
      !NOT_DISTRIBUTED.test(mediaType) && !(isTold && OF_BASE.test(madeBy[index] ?? '')),
  );
  return first < 0 ? layers.length : first;
}
