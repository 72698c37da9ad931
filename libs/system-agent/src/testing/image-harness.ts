import { mkdtempSync, realpathSync, rmSync, mkdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { posixFileTrust } from '@wins/trusted-files';
import { digestOf } from './image-archive.js';
import { imageStore } from '../images/image-store.js';
import type { ImageStoreOptions } from '../images/store-options.js';

export { digestOf, dockerArchive, tarOf, type TarMember } from './image-archive.js';

/** Returns an image in the form in which registries and OCI layouts store it: blobs by digest, and their manifest. */
export function ociImage(layers: readonly Buffer[], stored: readonly Buffer[] = layers) {
  const config = Buffer.from(JSON.stringify({ rootfs: { diff_ids: layers.map(digestOf) } }));
  const describe = (bytes: Buffer, mediaType: string) => ({
    mediaType,
    digest: digestOf(bytes),
    size: bytes.length,
  });
  const manifest = {
    schemaVersion: 2,
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    config: describe(config, 'application/vnd.oci.image.config.v1+json'),
    layers: stored.map((bytes) => describe(bytes, 'application/vnd.oci.image.layer.v1.tar+gzip')),
  };
  const text = Buffer.from(JSON.stringify(manifest));
  const blobs = new Map([config, text, ...stored].map((bytes) => [digestOf(bytes), bytes]));
  return { manifest, text, blobs, descriptor: describe(text, manifest.mediaType) };
}

export function ociIndex(
  images: readonly { readonly os: string; readonly architecture: string; readonly text: Buffer }[],
): Buffer {
  const manifests = images.map(({ os, architecture, text }) => ({
    mediaType: 'application/vnd.oci.image.manifest.v1+json',
    digest: digestOf(text),
    size: text.length,
    platform: { os, architecture },
  }));
  const mediaType = 'application/vnd.oci.image.index.v1+json';
  return Buffer.from(JSON.stringify({ schemaVersion: 2, mediaType, manifests }));
}

export class ImageLab {
  readonly root = realpathSync(mkdtempSync(join(tmpdir(), 'wins-images-')));
  readonly images = join(this.root, 'images');
  readonly folder = join(this.root, 'execution');
  readonly warnings: string[] = [];

  constructor() {
    mkdirSync(this.images);
    mkdirSync(this.folder);
  }

  options(): ImageStoreOptions {
    return {
      imagesDirectory: this.images,
      registriesFiles: [],
      platform: { os: 'linux', arch: 'amd64' },
      trust: posixFileTrust(),
      // The time-out of a whole image never expires; other waits end at once.
      clock: {
        now: () => new Date(),
        monotonicMs: () => performance.now(),
        wait: (ms) => (ms > 600_000 ? new Promise(() => undefined) : Promise.resolve()),
      },
      environment: {},
      onWarning: (message) => this.warnings.push(message),
    };
  }

  store(options: Partial<ImageStoreOptions> = {}) {
    return imageStore({ ...this.options(), ...options });
  }

  async unpack(reference: string, options: Partial<ImageStoreOptions> = {}): Promise<void> {
    await this.store(options).unpack(reference, this.folder, {
      signal: new AbortController().signal,
    });
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
