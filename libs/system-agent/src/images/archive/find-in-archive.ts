import { AgentError } from '../../agent-error.js';
import { checkedBytes, readDocument } from '../checked-bytes.js';
import { foundImage, type FoundImage, type Wanted } from '../found-image.js';
import {
  choosePlatform,
  parseConfig,
  parseDockerArchive,
  parseManifest,
  parseOciIndex,
  type Descriptor,
  type Manifest,
} from '../image-documents.js';
import { imageFailed } from '../image-failure.js';
import type { ImageLimits } from '../image-limits.js';
import { parseReference, referenceKey, type Reference } from '../reference.js';
import type { ImageArchive } from './image-archive.js';

const DOCKER = 'manifest.json';
const OCI = 'index.json';
/** What containerd and skopeo write beside an image of a layout. */
const NAMES = ['io.containerd.image.name', 'org.opencontainers.image.ref.name'];
/** A list of lists of images; nothing real goes deeper. */
const MAX_DEPTH = 3;

/**
 * Looks for an image in what `docker save` wrote, or in an OCI layout.
 *
 * @returns Undefined when it has no image of this name.
 * @throws AgentError `imageFailed`; an Error when the file is not an archive.
 */
export async function findInArchive(
  archive: ImageArchive,
  wanted: Wanted,
): Promise<FoundImage | undefined> {
  const documents = await archive.documents([DOCKER, OCI]);
  const docker = documents.get(DOCKER);
  const oci = documents.get(OCI);
  if (docker !== undefined) return await findInDockerArchive(archive, docker, wanted);
  return oci === undefined ? undefined : await findInLayout(archive, oci, wanted);
}

async function findInDockerArchive(archive: ImageArchive, text: Buffer, { reference }: Wanted) {
  const images = parseDockerArchive(text);
  const image = images.find(({ RepoTags }) => RepoTags?.some((tag) => isSame(tag, reference)));
  if (image === undefined) return undefined;
  const config = parseConfig(await archive.document(image.Config));
  const layers = image.Layers.map(() => ({}));
  const open = (first: number) => archive.files(image.Layers.slice(first));
  return foundImage({ config, layers, open });
}

async function findInLayout(archive: ImageArchive, text: Buffer, wanted: Wanted) {
  const image = parseOciIndex(text).find(({ annotations }) =>
    NAMES.some((name) => isSame(annotations?.[name], wanted.reference)),
  );
  if (image === undefined) return undefined;
  const { config, layers } = await manifestOf(archive, image, wanted);
  const parsed = parseConfig(await blob(archive, config, wanted.limits));
  const open = (first: number) => checkedLayers(archive, layers.slice(first), wanted.limits);
  return foundImage({ config: parsed, layers, open });
}

async function manifestOf(
  archive: ImageArchive,
  image: Descriptor,
  wanted: Wanted,
): Promise<Manifest> {
  let descriptor = image;
  for (let depth = 0; depth < MAX_DEPTH; depth += 1) {
    const parsed = parseManifest(await blob(archive, descriptor, wanted.limits));
    if (parsed.kind === 'manifest') return parsed.manifest;
    descriptor = choosePlatform(parsed.manifests, wanted.platform);
  }
  throw imageFailed('read an OCI layout', 'lists in lists', 'an image');
}

async function* checkedLayers(
  archive: ImageArchive,
  layers: readonly Descriptor[],
  limits: ImageLimits,
) {
  let index = 0;
  for await (const bytes of archive.files(layers.map(({ digest }) => blobName(digest)))) {
    const { digest, size } = layers[index] ?? {};
    if (size === undefined) return;
    yield checkedBytes(bytes, { what: 'read a layer', maxBytes: limits.layerBytes, size, digest });
    index += 1;
  }
}

async function blob(
  archive: ImageArchive,
  { digest, size }: Descriptor,
  limits: ImageLimits,
): Promise<Buffer> {
  const bytes = await archive.document(blobName(digest));
  const expected = {
    what: 'read a document of an image',
    maxBytes: limits.documentBytes,
    size,
    digest,
  };
  return await readDocument(once(bytes), expected);
}

// eslint-disable-next-line @typescript-eslint/require-await -- what reads it wants it so
async function* once(bytes: Buffer) {
  yield bytes;
}

function blobName(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

function isSame(name: string | undefined, reference: Reference): boolean {
  if (name === undefined) return false;
  try {
    return referenceKey(parseReference(name)) === referenceKey(reference);
  } catch (error) {
    // A name that nobody can ask for.
    if (error instanceof AgentError) return false;
    throw error;
  }
}
