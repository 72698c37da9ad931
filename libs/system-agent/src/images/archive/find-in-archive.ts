import { AgentError } from '../../agent-error.js';
import { readDocument } from '../checked-bytes.js';
import {
  exactly,
  foundImage,
  imageOfManifest,
  type FoundImage,
  type Wanted,
} from '../found-image.js';
import {
  findManifest,
  parseConfig,
  parseDockerArchive,
  parseOciIndex,
  type Descriptor,
} from '../image-documents.js';
import { parseReference, referenceKey, type Reference } from '../reference.js';
import type { ImageArchive } from './image-archive.js';

const DOCKER = 'manifest.json';
const OCI = 'index.json';
/** Annotations with the name of an image, of containerd and skopeo. */
const NAMES = ['io.containerd.image.name', 'org.opencontainers.image.ref.name'];

/**
 * Finds an image in an archive of `docker save` or an OCI layout; undefined when it has no image of this name.
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
  return foundImage(config, layers, (first) => archive.files(image.Layers.slice(first)));
}

async function findInLayout(archive: ImageArchive, text: Buffer, wanted: Wanted) {
  const { reference, platform, limits } = wanted;
  const image = parseOciIndex(text).find(({ annotations }) =>
    NAMES.some((name) => isSame(annotations?.[name], reference)),
  );
  if (image === undefined) return undefined;
  async function* blob({ digest }: Descriptor) {
    yield await archive.document(blobName(digest));
  }
  const fetch = (entry: Descriptor) => {
    const own = { what: 'read a manifest', maxBytes: limits.documentBytes };
    return readDocument(blob(entry), { ...own, ...exactly(entry) });
  };
  const manifest = await findManifest(await fetch(image), platform, fetch);
  const layers = (all: readonly Descriptor[]) =>
    archive.files(all.map(({ digest }) => blobName(digest)));
  return await imageOfManifest(manifest, limits, { blob, layers });
}

function blobName(digest: string): string {
  return `blobs/${digest.replace(':', '/')}`;
}

function isSame(name: string | undefined, reference: Reference): boolean {
  if (name === undefined) return false;
  try {
    return referenceKey(parseReference(name)) === referenceKey(reference);
  } catch (error) {
    // An invalid name matches nothing.
    if (error instanceof AgentError) return false;
    throw error;
  }
}
