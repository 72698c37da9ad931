import { z } from 'zod';
import { imageFailed, parseJson } from './image-failure.js';

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
const manifest = z.object({
  config: descriptor,
  layers: z.array(descriptor),
  manifests: z.unknown().optional(),
});
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

/** Platform of an entry without one, as in Go. */
const DEFAULT_PLATFORM = { os: 'linux', architecture: 'amd64' };
const MANIFEST = ['a manifest', 'schema version 2 of Docker, or OCI'] as const;
const CONFIG = ['the config of an image', 'rootfs.diff_ids'] as const;
/** Depth of nested lists of images. */
const MAX_DEPTH = 3;

export type Descriptor = z.infer<typeof descriptor>;
export type Manifest = z.infer<typeof manifest>;

/** In Go's words: `windows`, `amd64`. */
export interface ImagePlatform {
  readonly os: string;
  readonly arch: string;
}

/**
 * Finds the manifest for the platform by the content of the documents, not by the media type that a server sends.
 * @param fetch - Gets the manifest, or another list, of an entry of a list.
 * @throws AgentError `imageFailed`, also when there is no image for the platform; what `fetch` throws.
 */
export async function findManifest(
  text: Buffer,
  { os, arch }: ImagePlatform,
  fetch: (entry: Descriptor) => Promise<Buffer>,
): Promise<Manifest> {
  let current = text;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const parsed = parseJson(manifest.or(index), current, MANIFEST);
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
  /** In Go's words; empty where it is missing. */
  readonly os: string;
  /** Digests of the unpacked layers. */
  readonly diffIds: readonly string[];
  /** Commands that made the layers, if known. */
  readonly madeBy: readonly string[];
}

export function parseConfig(text: Buffer): ImageConfig {
  const { os, rootfs, history } = parseJson(config, text, CONFIG);
  const made = (history ?? []).filter(({ empty_layer: isEmpty }) => isEmpty !== true);
  const madeBy = made.map(({ created_by: by }) => by ?? '');
  return { os: os ?? '', diffIds: rootfs.diff_ids, madeBy };
}

export function parseDockerArchive(text: Buffer): z.infer<typeof dockerArchive> {
  return parseJson(dockerArchive, text, ['manifest.json', 'that of docker save']);
}

export function parseOciIndex(text: Buffer): readonly Descriptor[] {
  return parseJson(index, text, ['index.json', 'that of an OCI layout']).manifests;
}
