import * as z from 'zod/mini';
import { imageFailed, parseJson } from './image-failure.js';
import { checkedBytes, readDocument, type Expected, type ImageLimits } from './checked-bytes.js';
import type { Reference } from './reference.js';

const digest = z.string({ checks: [z.regex(/^sha256:[0-9a-f]{64}$/)] });
const annotations = z.nullish(z.record(z.string(), z.string()));
const descriptor = z.object({
  mediaType: z.optional(z.string()),
  digest,
  size: z.int().check(z.gte(0)),
  urls: z.nullish(z.array(z.string())),
  platform: z.nullish(z.object({ os: z.string(), architecture: z.string() })),
  annotations,
});
const manifest = z.object({
  config: descriptor,
  layers: z.array(descriptor),
  manifests: z.optional(z.unknown()),
});
const index = z.object({ manifests: z.array(descriptor) });
const historyEntry = z.object({
  created_by: z.nullish(z.string()),
  empty_layer: z.nullish(z.boolean()),
});
const config = z.object({
  os: z.nullish(z.string()),
  rootfs: z.object({ diff_ids: z.array(digest) }),
  history: z.catch(z.nullish(z.array(historyEntry)), undefined),
});
const saved = { Config: z.string(), Layers: z.array(z.string()) };
const dockerArchive = z.array(z.object({ ...saved, RepoTags: z.nullish(z.array(z.string())) }));

/** Platform of an index entry that does not name its platform. The Go agent has the same default. */
const DEFAULT_PLATFORM = { os: 'linux', architecture: 'amd64' };
const MANIFEST = ['a manifest', 'schema version 2 of Docker, or OCI'] as const;
const CONFIG = ['the config of an image', 'rootfs.diff_ids'] as const;
const MAX_DEPTH = 3;

export type Descriptor = z.infer<typeof descriptor>;
export type Manifest = z.infer<typeof manifest>;

/** Go's names, such as `windows` and `amd64`. */
export interface ImagePlatform {
  readonly os: string;
  readonly arch: string;
}

/**
 * Recognises documents by their content, not by the media type that a server sends.
 * @throws AgentError `imageFailed`, also if there is no image for the platform; errors of `fetch`.
 */
export async function findManifest(
  text: Buffer,
  { os, arch }: ImagePlatform,
  fetch: (entry: Descriptor) => Promise<Buffer>,
): Promise<Manifest> {
  let current = text;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const parsed = parseJson(z.union([manifest, index]), current, MANIFEST);
    if ('layers' in parsed) {
      if (!Array.isArray(parsed.manifests)) return parsed;
      throw imageFailed('read a manifest', 'an image and a list of images in one', 'either');
    }
    const chosen = parsed.manifests.find(({ platform }) => {
      const its = platform ?? DEFAULT_PLATFORM;
      return its.os === os && its.architecture === arch;
    });
    if (chosen === undefined) {
      const found = `${parsed.manifests.length} images for other platforms`;
      throw imageFailed('choose an image', found, `one for ${os}/${arch}`);
    }
    current = await fetch(chosen);
  }
  throw imageFailed('read a manifest', 'lists in lists', 'an image');
}

export interface ImageConfig {
  readonly os: string;
  readonly diffIds: readonly string[];
  readonly madeBy: readonly string[];
}

export function parseConfig(text: Buffer): ImageConfig {
  const { os, rootfs, history } = parseJson(config, text, CONFIG);
  const made = (history ?? []).filter(({ empty_layer: isEmpty }) => isEmpty !== true);
  const madeBy = made.map(({ created_by: by }) => by ?? '');
  return { os: os ?? '', diffIds: rootfs.diff_ids, madeBy };
}

export function parseDockerArchive(text: Buffer): z.infer<typeof dockerArchive> {
  return parseJson(dockerArchive, text, ['manifest.json', 'the manifest of docker save']);
}

export function parseOciIndex(text: Buffer): readonly Descriptor[] {
  return parseJson(index, text, ['index.json', 'the index of an OCI layout']).manifests;
}

export interface Wanted {
  readonly reference: Reference;
  readonly platform: ImagePlatform;
  readonly limits: ImageLimits;
}

export interface FoundImage {
  /** Digests of the unpacked layers, lowest first. */
  readonly diffIds: readonly string[];
  /** Number of bottom layers from Microsoft's Windows base image. Unpacking a `subtree` skips them. */
  readonly baseLayers: number;
  /** Yields the layers from the bottom up, starting at index `first`. Read each layer to its end before the next. */
  layers(first: number): AsyncIterable<AsyncIterable<Uint8Array>>;
}

/** `mediaType` is undefined in a Docker archive. */
type Layers = readonly { readonly mediaType?: string | undefined }[];

/** @throws AgentError `imageFailed` when the config describes a different number of layers. */
export function foundImage(config: ImageConfig, layers: Layers, open: FoundImage['layers']) {
  const { diffIds } = config;
  if (diffIds.length === layers.length)
    return { diffIds, baseLayers: baseLayersOf(config, layers), layers: open };
  const wanted = `one for each of ${layers.length} layers`;
  throw imageFailed('read an image', `${diffIds.length} digests in its config`, wanted);
}

export interface BlobSource {
  blob(descriptor: Descriptor): AsyncIterable<Uint8Array>;
  layers(
    descriptors: readonly Descriptor[],
  ): Iterable<AsyncIterable<Uint8Array>> | AsyncIterable<AsyncIterable<Uint8Array>>;
}

/** Verifies all digests. @throws AgentError `imageFailed`; errors of the source. */
export async function imageOfManifest(
  { config, layers }: Manifest,
  { documentBytes, layerBytes }: ImageLimits,
  source: BlobSource,
): Promise<FoundImage> {
  const text = await readDocument(source.blob(config), {
    what: 'read the config of an image',
    maxBytes: documentBytes,
    ...exactly(config),
  });
  return foundImage(parseConfig(text), layers, async function* open(first) {
    const wanted = layers.slice(first).values();
    for await (const bytes of source.layers(layers.slice(first))) {
      const { value: layer } = wanted.next();
      yield checkedBytes(bytes, {
        what: 'read a layer',
        maxBytes: layerBytes,
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

function baseLayersOf({ os, madeBy }: ImageConfig, layers: Layers): number {
  if (os !== 'windows') return 0;
  const isTold = madeBy.length === layers.length;
  const first = layers.findIndex(
    ({ mediaType = '' }, index) =>
      !NOT_DISTRIBUTED.test(mediaType) && !(isTold && OF_BASE.test(madeBy[index] ?? '')),
  );
  return first < 0 ? layers.length : first;
}
