import type { OpenFile } from '@wins/trusted-files';
import { checkedBytes, readDocument, type ImageLimits } from '../checked-bytes.js';
import { ARCHIVE_COMPRESSIONS, decompress } from '../compression/decompress.js';
import { imageFailed } from '../image-failure.js';
import { readTar, type TarEntry } from '../unpack/read-tar.js';
import { AgentError } from '../../agent-error.js';
import {
  exactly,
  foundImage,
  imageOfManifest,
  type Wanted,
  findManifest,
  parseConfig,
  parseDockerArchive,
  parseOciIndex,
  type Descriptor,
} from '../image-documents.js';
import { parseReference, referenceKey, type Reference } from '../reference.js';

const MAX_LINKS = 8;
const BLOCK_BYTES = 256 * 1024;
const READ = 'read an archive of images';

/** A tar, compressed or not. Each method reads the file from its beginning. */
export class ImageArchive {
  readonly #file: OpenFile;
  readonly #limits: ImageLimits;
  readonly #signal: AbortSignal;
  /** Maps links to their targets, because Docker writes a repeated layer as a link. */
  readonly #links = new Map<string, string>();

  constructor(file: OpenFile, limits: ImageLimits, signal: AbortSignal) {
    this.#file = file;
    this.#limits = limits;
    this.#signal = signal;
  }

  /** @throws AgentError `imageFailed`; an Error for a file that is not an archive. */
  async documents(names: readonly string[]): Promise<ReadonlyMap<string, Buffer>> {
    const found = new Map<string, Buffer>();
    for await (const entry of this.#entries()) {
      const { type, name, linkname } = entry.header;
      if (type === 'symlink') this.#links.set(plain(name), plain(`${name}/../${linkname ?? ''}`));
      else if (type === 'link') this.#links.set(plain(name), plain(linkname ?? ''));
      else if (names.includes(plain(name))) {
        const expected = { what: `read ${plain(name)}`, maxBytes: this.#limits.documentBytes };
        found.set(plain(name), await readDocument(entry, expected));
        if (found.size === names.length) break;
      }
    }
    return found;
  }

  async document(name: string): Promise<Buffer> {
    const document = (await this.documents([plain(name)])).get(plain(name));
    if (document === undefined) throw missing(name);
    return document;
  }

  async *files(names: readonly string[]): AsyncGenerator<AsyncIterable<Uint8Array>> {
    const wanted = names.map((name) => this.#followed(plain(name)));
    for (let next = 0; next < wanted.length;) {
      const before = next;
      for await (const entry of this.#entries()) {
        if (entry.header.type !== 'file' || plain(entry.header.name) !== wanted[next]) continue;
        yield checkedBytes(entry, { what: 'read a layer', maxBytes: this.#limits.layerBytes });
        next += 1;
        if (next === wanted.length) break;
      }
      if (next === before) throw missing(wanted[next] ?? '');
    }
  }

  async *#entries(): AsyncGenerator<TarEntry> {
    const { entries, unpackedBytes: maxBytes } = this.#limits;
    const unpacked = decompress(this.#bytes(), ARCHIVE_COMPRESSIONS);
    const tar = checkedBytes(unpacked, { what: READ, maxBytes });
    let count = 0;
    for await (const entry of readTar(tar)) {
      this.#signal.throwIfAborted();
      count += 1;
      if (count > entries) throw imageFailed(READ, 'more entries', `at most ${entries}`);
      yield entry;
    }
  }

  /** Uses no stream, because a stream closes the file when its reader stops early. */
  async *#bytes(): AsyncGenerator<Uint8Array> {
    for (let position = 0; ;) {
      this.#signal.throwIfAborted();
      const { handle } = this.#file;
      const block = Buffer.alloc(BLOCK_BYTES);
      const { bytesRead, buffer } = await handle.read(block, 0, BLOCK_BYTES, position);
      if (bytesRead === 0) return;
      position += bytesRead;
      yield buffer.subarray(0, bytesRead);
    }
  }

  #followed(name: string): string {
    let current = name;
    for (let steps = 0; steps < MAX_LINKS; steps += 1)
      current = this.#links.get(current) ?? current;
    return current;
  }
}

/** Resolves `.` and `..`. The results are only compared, and never used as paths. */
function plain(name: string): string {
  const parts: string[] = [];
  for (const part of name.split('/')) {
    if (part === '..') parts.pop();
    else if (part !== '' && part !== '.') parts.push(part);
  }
  return parts.join('/');
}

const missing = (name: string) =>
  imageFailed(
    'read an archive of images',
    `no ${JSON.stringify(name)}`,
    'all files of its manifest',
  );

const DOCKER = 'manifest.json';
const OCI = 'index.json';
const NAMES = ['io.containerd.image.name', 'org.opencontainers.image.ref.name'];

/**
 * Accepts archives of `docker save` and OCI layouts. Returns undefined if there is no image of this name.
 * @throws AgentError `imageFailed`; an Error when the file is not an archive.
 */
export async function findInArchive(archive: ImageArchive, wanted: Wanted) {
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

const blobName = (digest: string): string => `blobs/${digest.replace(':', '/')}`;

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
