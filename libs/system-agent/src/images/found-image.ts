import { checkedBytes, readDocument, type Expected } from './checked-bytes.js';
import {
  parseConfig,
  type Descriptor,
  type ImageConfig,
  type ImagePlatform,
  type Manifest,
} from './image-documents.js';
import { imageFailed } from './image-failure.js';
import type { ImageLimits } from './image-limits.js';
import type { Reference } from './reference.js';

export interface Wanted {
  readonly reference: Reference;
  readonly platform: ImagePlatform;
  readonly limits: ImageLimits;
}

export interface FoundImage {
  /** Digests of its unpacked layers, lowest first. */
  readonly diffIds: readonly string[];
  /** Number of lowest layers that belong to Microsoft's Windows base image, which have no `Files` for a program folder. */
  readonly baseLayers: number;
  /**
   * Returns the bytes of its layers in order, compressed or not, without the `first` lowest ones. Each must be read to
   * its end before the next is requested.
   */
  layers(first: number): AsyncIterable<AsyncIterable<Uint8Array>>;
}

/** One entry per layer; an archive of Docker has no media types. */
type Layers = readonly { readonly mediaType?: string | undefined }[];

/** @throws AgentError `imageFailed` when the config describes other layers. */
export function foundImage(
  config: ImageConfig,
  layers: Layers,
  open: FoundImage['layers'],
): FoundImage {
  const { diffIds } = config;
  if (diffIds.length === layers.length)
    return { diffIds, baseLayers: baseLayersOf(config, layers), layers: open };
  const wanted = `one for each of ${layers.length} layers`;
  throw imageFailed('read an image', `${diffIds.length} digests in its config`, wanted);
}

/** Source of the blobs of an image. The caller verifies them. */
export interface BlobSource {
  blob(descriptor: Descriptor): AsyncIterable<Uint8Array>;
  layers(
    descriptors: readonly Descriptor[],
  ): Iterable<AsyncIterable<Uint8Array>> | AsyncIterable<AsyncIterable<Uint8Array>>;
}

/**
 * Returns the image of a manifest; verifies all content by its digests. @throws AgentError `imageFailed`; what the
 * source throws.
 */
export async function imageOfManifest(
  { config, layers }: Manifest,
  { documentBytes, layerBytes }: ImageLimits,
  source: BlobSource,
): Promise<FoundImage> {
  const text = await readDocument(source.blob(config), {
    ...{ what: 'read the config of an image', maxBytes: documentBytes },
    ...exactly(config),
  });
  return foundImage(parseConfig(text), layers, async function* open(first) {
    const wanted = layers.slice(first).values();
    for await (const bytes of source.layers(layers.slice(first))) {
      const { value: layer } = wanted.next();
      yield checkedBytes(bytes, {
        ...{ what: 'read a layer', maxBytes: layerBytes },
        ...(layer && exactly(layer)),
      });
    }
  });
}

export function exactly({ digest, size }: Descriptor): Pick<Expected, 'digest' | 'size'> {
  return { digest, size };
}

/** Media types of layers that only Microsoft distributes. */
const NOT_DISTRIBUTED = /nondistributable|foreign/;
/** History texts of Microsoft's base images; a Dockerfile produces others. */
const OF_BASE = /^(?:Apply image|Install update) /;

/** Counts from the lowest layer up to the first that is no base layer. */
function baseLayersOf({ os, madeBy }: ImageConfig, layers: Layers): number {
  if (os !== 'windows') return 0;
  const isTold = madeBy.length === layers.length;
  const first = layers.findIndex(
    ({ mediaType = '' }, index) =>
      !NOT_DISTRIBUTED.test(mediaType) && !(isTold && OF_BASE.test(madeBy[index] ?? '')),
  );
  return first < 0 ? layers.length : first;
}
