import { z } from 'zod';
import { imageFailed } from './image-failure.js';

const digest = z.string().regex(/^sha256:[0-9a-f]{64}$/);
const annotations = z.record(z.string(), z.string()).nullish();
const descriptor = z.object({
  mediaType: z.string().optional(),
  digest,
  size: z.int().min(0),
  urls: z.array(z.string()).nullish(),
  platform: z.object({ os: z.string(), architecture: z.string() }).nullish(),
  annotations,
});
const manifest = z.object({ config: descriptor, layers: z.array(descriptor) });
const index = z.object({ manifests: z.array(descriptor) });
const config = z.object({
  os: z.string().nullish(),
  rootfs: z.object({ diff_ids: z.array(digest) }),
  history: z
    .array(z.object({ created_by: z.string().nullish(), empty_layer: z.boolean().nullish() }))
    .nullish()
    .catch(undefined),
});
const dockerArchive = z.array(
  z.object({
    Config: z.string(),
    RepoTags: z.array(z.string()).nullish(),
    Layers: z.array(z.string()),
  }),
);

/** What an entry of a list is for that does not say, as for Go. */
const DEFAULT_PLATFORM = { os: 'linux', architecture: 'amd64' };

/** A document or layer by its digest. */
export type Descriptor = z.infer<typeof descriptor>;
export type Manifest = z.infer<typeof manifest>;
export type DockerArchive = z.infer<typeof dockerArchive>;

/** An image for one platform, or the list of those for several. */
export type ManifestOrIndex =
  | { readonly kind: 'manifest'; readonly manifest: Manifest }
  | { readonly kind: 'index'; readonly manifests: readonly Descriptor[] };

/** In Go's words: `windows`, `amd64`. */
export interface ImagePlatform {
  readonly os: string;
  readonly arch: string;
}

/**
 * Reads a manifest of Docker or OCI, or a list of them, by its content: what a server says of its type decides nothing.
 *
 * @throws AgentError `imageFailed`.
 */
export function parseManifest(text: Buffer): ManifestOrIndex {
  const value = parseJson(text, 'manifest');
  const asIndex = index.safeParse(value);
  const asManifest = manifest.safeParse(value);
  if (asIndex.success && asManifest.success)
    throw imageFailed('read a manifest', 'an image and a list of images in one', 'either');
  if (asIndex.success) return { kind: 'index', manifests: asIndex.data.manifests };
  if (asManifest.success) return { kind: 'manifest', manifest: asManifest.data };
  throw imageFailed(
    'read a manifest',
    'another form',
    'schema version 2 of Docker, or OCI',
    asManifest.error,
  );
}

/** @throws AgentError `imageFailed` when there is no image for the platform. */
export function choosePlatform(
  manifests: readonly Descriptor[],
  { os, arch }: ImagePlatform,
): Descriptor {
  const chosen = manifests.find(({ platform }) => {
    const its = platform ?? DEFAULT_PLATFORM;
    return its.os === os && its.architecture === arch;
  });
  if (chosen !== undefined) return chosen;
  throw imageFailed(
    'choose an image',
    `${manifests.length} images for other platforms`,
    `one for ${os}/${arch}`,
  );
}

/** What the config of an image says of its layers. */
export interface ImageConfig {
  /** In Go's words; empty where it says nothing. */
  readonly os: string;
  /** The digests of the layers as they are unpacked. */
  readonly diffIds: readonly string[];
  /** The commands that have made layers, as far as it says. */
  readonly madeBy: readonly string[];
}

/** @throws AgentError `imageFailed`. */
export function parseConfig(text: Buffer): ImageConfig {
  const { data, error } = config.safeParse(parseJson(text, 'config'));
  if (data === undefined) {
    const found = 'no digests of its layers';
    throw imageFailed('read the config of an image', found, 'rootfs.diff_ids', error);
  }
  const made = (data.history ?? []).filter(({ empty_layer: isEmpty }) => isEmpty !== true);
  return {
    os: data.os ?? '',
    diffIds: data.rootfs.diff_ids,
    madeBy: made.map(({ created_by: by }) => by ?? ''),
  };
}

/** @throws AgentError `imageFailed`. */
export function parseDockerArchive(text: Buffer): DockerArchive {
  const parsed = dockerArchive.safeParse(parseJson(text, 'manifest.json'));
  if (parsed.success) return parsed.data;
  throw imageFailed('read manifest.json', 'another form', 'that of docker save', parsed.error);
}

/** @throws AgentError `imageFailed`. */
export function parseOciIndex(text: Buffer): readonly Descriptor[] {
  const parsed = index.safeParse(parseJson(text, 'index.json'));
  if (parsed.success) return parsed.data.manifests;
  throw imageFailed('read index.json', 'another form', 'that of an OCI layout', parsed.error);
}

function parseJson(text: Buffer, what: string): unknown {
  try {
    return JSON.parse(text.toString('utf8'));
  } catch (error) {
    throw imageFailed(`read a ${what}`, 'no JSON', 'JSON', error);
  }
}
