import { openTrustedFile } from '@wins/trusted-files';
import { escapeText, messageOf, quoteText } from '@wins/wins-program';
import { AgentError } from '../agent-error.js';
import type { ImageStore } from '../ports.js';
import { archiveFiles } from './archive/archive-files.js';
import { findInArchive } from './archive/find-in-archive.js';
import { ImageArchive } from './archive/image-archive.js';
import type { FoundImage, Wanted } from './found-image.js';
import { asImageError, imageFailed } from './image-failure.js';
import { DEFAULT_IMAGE_LIMITS, type ImageLimits } from './image-limits.js';
import { parseReference } from './reference.js';
import { endpointsOf } from './registry/endpoints.js';
import {
  RegistryAccess,
  registryParts,
  type RegistryOptions,
  type RegistryParts,
} from './registry/registry-access.js';
import { fetchImage } from './registry/registry-image.js';
import type { FileSystemOs } from './unpack/entry-path.js';
import { unpackImage } from './unpack-image.js';

type Use = (image: FoundImage) => Promise<void>;

/** Where images come from, and what of them is wanted. Paths are absolute. */
export interface ImageStoreOptions extends RegistryOptions {
  /** Archives in it are looked into first, by tag. Need not exist. */
  readonly imagesDirectory: string;
  /** In Go's words: `windows` and `amd64`. Its names of files decide what may be unpacked. */
  readonly platform: { readonly os: FileSystemOs; readonly arch: string };
  /**
   * The part of an image that becomes the root of the folder: `Files/bin` on Windows, where the layers of Microsoft's base image are not fetched then.
   * Default: the whole image.
   */
  readonly subtree?: string;
  readonly limits?: Partial<ImageLimits>;
}

/**
 * Images from the archives of the node, else from a registry: the mirrors that `registries.yaml` has for it, then itself. Digests of
 * all that is fetched are checked; they are known to be right only when `unpack` has resolved. Layers are unpacked in order, with
 * whiteouts; every file belongs to this account, modes lose what group and others could write, and links stay in the folder.
 *
 * `unpack` fails with `unreachable` when no registry answered, and with `imageFailed` for everything else.
 */
export function imageStore(given: ImageStoreOptions): ImageStore {
  const options = registryParts(given);
  const limits = { ...DEFAULT_IMAGE_LIMITS, ...options.limits };
  return {
    async unpack(text, folder, signal) {
      const wanted = { reference: parseReference(text), platform: options.platform, limits };
      const end = new AbortController();
      const whole = AbortSignal.any([signal, end.signal]);
      void options.clock.wait(limits.totalMs, whole).then(
        () =>
          end.abort(
            imageFailed(`fetch ${quoteText(text)}`, `no end after ${limits.totalMs} ms`, 'one'),
          ),
        () => undefined,
      );
      try {
        const place = {
          folder,
          subtree: options.subtree,
          os: options.platform.os,
          limits,
          signal: whole,
        };
        const use = (image: FoundImage) => unpackImage(image, place);
        const isLocal =
          wanted.reference.digest === undefined && (await inArchive(options, wanted, whole, use));
        if (!isLocal) await inRegistry(options, wanted, whole, use);
      } catch (error) {
        // Why it was ended, not what broke by it.
        whole.throwIfAborted();
        throw asImageError(error, `unpack ${quoteText(text)}`);
      } finally {
        // Whatever is still open is not needed any more.
        end.abort();
      }
    },
  };
}

/** Whether an archive of the node has the image, so that no registry is asked. */
export async function isInArchive(
  options: ImageStoreOptions,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<boolean> {
  if (wanted.reference.digest !== undefined) return false;
  return await inArchive(options, wanted, signal, () => Promise.resolve());
}

/** False when no archive has it. An archive that cannot be read is passed over; one that has the image is the one that counts. */
async function inArchive(
  options: ImageStoreOptions,
  wanted: Wanted,
  signal: AbortSignal,
  use: Use,
) {
  for (const path of await archiveFiles(options.imagesDirectory)) {
    const file = await opened(path, options);
    try {
      const image = file && (await found(path, new ImageArchive(file, wanted.limits, signal)));
      if (image === undefined) continue;
      await use(image);
      return true;
    } finally {
      await file?.handle.close();
    }
  }
  return false;

  async function found(path: string, archive: ImageArchive) {
    try {
      return await findInArchive(archive, wanted);
    } catch (error) {
      signal.throwIfAborted();
      options.onWarning(
        `cannot use the archive ${escapeText(path)}: ${escapeText(messageOf(error))}`,
      );
      return undefined;
    }
  }
}

async function opened(path: string, { trust, onWarning }: ImageStoreOptions) {
  try {
    return await openTrustedFile(path, trust, { followLinks: true });
  } catch (error) {
    onWarning(`cannot use an archive: ${messageOf(error)}`);
    return undefined;
  }
}

async function inRegistry(
  options: ImageStoreOptions & RegistryParts,
  wanted: Wanted,
  signal: AbortSignal,
  use: Use,
) {
  using access = await RegistryAccess.open(options, wanted.limits, signal);
  const failures: AgentError[] = [];
  for (const endpoint of endpointsOf(wanted.reference, access.found.registries)) {
    const asking = fetchImage(access.session(endpoint), access.connections, wanted);
    const image = await asking.catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof AgentError)) throw error;
      failures.push(error);
    });
    // From the first that has it: what another one has of it would come on top of what is unpacked by then.
    if (image === undefined) continue;
    await use(image);
    return;
  }
  throw notFetched(failures);
}

function notFetched(failures: readonly AgentError[]): AgentError {
  const code = failures.every((failure) => failure.code === 'unreachable')
    ? 'unreachable'
    : 'imageFailed';
  const reasons = failures.map(({ message }) => message).join('; ');
  return new AgentError(code, `cannot fetch an image: ${reasons}`, { cause: failures[0] });
}
