import { openTrustedFile, type OpenFile } from '@wins/trusted-files';
import { errnoOf, escapeText, messageOf, quoteText } from '@wins/base';
import path from 'node:path';
import { abortedBy, AgentError } from '../agent-error.js';
import type { ImageStore } from '../ports.js';
import { readFolder } from '../read-folder.js';
import { findInArchive, ImageArchive } from './archive/image-archive.js';
import type { FoundImage, Wanted } from './image-documents.js';
import { asImageError, imageFailed } from './image-failure.js';
import { parseReference } from './reference.js';
import { endpointsOf } from './registry/endpoints.js';
import { RegistryAccess } from './registry/registry-access.js';
import { fetchImage } from './registry/registry-image.js';
import { RegistrySession } from './registry/registry-session.js';
import { storeParts, type ImageStoreOptions, type StoreParts } from './store-options.js';
import { unpackImage } from './unpack/unpack-image.js';

const ENDINGS = ['.tar', '.tar.lz4', '.tar.bz2', '.tbz', '.tar.gz', '.tgz', '.tar.zst', '.tzst'];

/** Maximum number of files in the folder, because a search by tag opens each archive. Above it, the search fails. */
const MAX_ENTRIES = 1000;
type Use = (image: FoundImage) => Promise<void>;

/**
 * Gets images from the node's archives, else from mirrors in `registries.yaml`, else from the registry. Unpacked files
 * may be unverified until `unpack` resolves. They belong to this account and lose the write permission of group and others.
 * Unpacked links cannot lead out of the target folder. Fails with `unreachable` when no registry answered, else with `imageFailed`.
 */
export function imageStore(given: ImageStoreOptions): ImageStore {
  const options = storeParts(given);
  const { limits, platform, clock, subtree } = options;
  return {
    async unpack(text, folder, { signal }) {
      const wanted = { ...options, reference: parseReference(text) };
      const end = new AbortController();
      const whole = AbortSignal.any([signal, end.signal]);
      const late = (): void =>
        end.abort(
          imageFailed(`fetch ${quoteText(text)}`, `no end within ${limits.totalMs} ms`, 'an end'),
        );
      void clock.wait(limits.totalMs, { signal: whole }).then(late, () => undefined);
      try {
        const options = { folder, subtree, os: platform.os, limits, signal: whole };
        const use = (image: FoundImage) => unpackImage(image, options);
        if (!(await inArchive(wanted, whole, use))) await inRegistry(wanted, whole, use);
      } catch (error) {
        // Report an abort, not the failures that it caused.
        if (whole.aborted) throw abortedBy(whole, `unpack ${quoteText(text)}`);
        throw asImageError(error, `unpack ${quoteText(text)}`);
      } finally {
        end.abort();
      }
    },
  };
}

/**
 * Calls `use` with the wanted image from the first archive that contains this image. Returns false if no archive contains
 * the image, or if the reference has a digest.
 */
export async function inArchive(wanted: StoreParts & Wanted, signal: AbortSignal, use: Use) {
  if (wanted.reference.digest !== undefined) return false;
  const { limits, trust, onWarning } = wanted;
  for (const location of await archiveFiles(wanted.imagesDirectory)) {
    let file: OpenFile | undefined;
    let image: FoundImage | undefined;
    try {
      file = await openTrustedFile(location, trust, { followLinks: true });
      image = await findInArchive(new ImageArchive(file, limits, signal), wanted);
      if (image === undefined) continue;
      await use(image);
      return true;
    } catch (error) {
      signal.throwIfAborted();
      if (image !== undefined) throw error;
      onWarning(`cannot use the archive ${escapeText(location)}: ${escapeText(messageOf(error))}`);
    } finally {
      // A failed close does not affect the verified data.
      await file?.handle.close().catch(() => undefined);
    }
  }
  return false;
}

async function archiveFiles(folder: string): Promise<string[]> {
  let names: string[];
  try {
    names = (await readFolder(folder, MAX_ENTRIES + 1)).map(({ name }) => name);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return [];
    throw error;
  }
  if (names.length > MAX_ENTRIES)
    throw imageFailed(`look into ${quoteText(folder)}`, 'more files', `at most ${MAX_ENTRIES}`);
  return names
    .filter((name) => ENDINGS.some((ending) => name.endsWith(ending)))
    .map((name) => path.join(folder, name));
}

async function inRegistry(wanted: StoreParts & Wanted, signal: AbortSignal, use: Use) {
  using access = await RegistryAccess.open(wanted, signal);
  const failures: AgentError[] = [];
  for (const endpoint of await endpointsOf(wanted.reference, access.found.registries)) {
    const asking = fetchImage(new RegistrySession(endpoint, access), access, wanted);
    const image = await asking.catch((error: unknown) => {
      signal.throwIfAborted();
      if (!(error instanceof AgentError)) throw error;
      failures.push(error);
    });
    // Use only the first image: another would add its files to those already unpacked.
    if (image === undefined) continue;
    await use(image);
    return;
  }
  const isUnreached = failures.every(({ code }) => code === 'unreachable');
  const reasons = failures.map(({ message }) => message).join('; ');
  const code = isUnreached ? 'unreachable' : 'imageFailed';
  throw new AgentError(code, `cannot fetch an image: ${reasons}`, { cause: failures[0] });
}
