import { entryFault, readTar, type TarEntry } from '@wins/system-agent';
import { TrustedFileError } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/wins-program';
import path from 'node:path';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FeatureError } from '../../../kernel/feature-error.js';

/** Searched in exactly this spelling. */
const PROGRAM_NAME = 'csi-proxy.exe';
/** An archive of csi-proxy has some 10 MiB, and a few entries. */
const LIMITS = { unpackedBytes: 512 * 1024 * 1024, entries: 1024 };

/**
 * Hands out the bytes of the one program in a tar that is compressed with gzip. The archive is read to its end, so that a second program, or what
 * is wrong behind the first, is found: whoever takes the bytes uses them only when this has ended well.
 *
 * @param limits - Of all that is in it, and of its files and folders; beyond them it is refused.
 * @throws FeatureError `archiveRefused`; what `sink` throws.
 */
export async function readProgram(
  archive: AsyncIterable<Uint8Array>,
  sink: (part: Uint8Array) => Promise<void>,
  limits = LIMITS,
): Promise<void> {
  let entries = 0;
  let programs = 0;
  try {
    for await (const entry of readTar(unpacked(archive, limits.unpackedBytes))) {
      entries += 1;
      if (entries > limits.entries)
        throw refused('more entries', `at most ${limits.entries} in an archive`);
      if (!isProgram(entry.header)) continue;
      programs += 1;
      if (programs > 1) throw refused(`${PROGRAM_NAME} twice`, 'one');
      for await (const part of entry) await sink(part);
    }
  } catch (error) {
    // What is wrong with a file says nothing of the archive.
    const isOfFile =
      error instanceof TrustedFileError || (error instanceof Error && 'syscall' in error);
    if (error instanceof FeatureError || isOfFile) throw error;
    throw refused(messageOf(error), 'a tar that is compressed with gzip', error);
  }
  if (programs === 0) throw refused(`no ${PROGRAM_NAME}`, 'one, as bin/csi-proxy.exe');
}

/**
 * Tells the program from other entries. Nothing else is ever written, but an archive with links, or names that lead elsewhere, is refused as a
 * whole: whoever made it means no good.
 */
function isProgram({ name, type }: TarEntry['header']): boolean {
  const fail = (found: string, wanted: string): FeatureError =>
    refused(`${quoteText(name, { maxLength: 128 })}, ${found}`, wanted);
  const isFolder = type === 'directory';
  if (type !== 'file' && !isFolder)
    throw fail(`a ${type ?? 'kind that is not known'}`, 'files and folders alone');
  const fault = entryFault(name, 'windows');
  if (fault !== undefined) throw fail(fault, 'a path below the root of the archive');
  const base = path.posix.basename(path.posix.normalize(name));
  if (base.toLowerCase() !== PROGRAM_NAME) return false;
  if (isFolder) throw fail('a folder', 'a file of that name');
  // Two spellings are one name on Windows.
  if (base !== PROGRAM_NAME) throw fail('in another spelling', `${PROGRAM_NAME}, spelled so`);
  return true;
}

async function* unpacked(
  archive: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Buffer> {
  const decoder = createGunzip();
  // It hands its error on to the decoder, which throws it below.
  pipeline(Readable.from(archive), decoder, () => undefined);
  let count = 0;
  for await (const part of decoder as AsyncIterable<Buffer>) {
    count += part.length;
    if (count > maxBytes) throw refused(`more than ${maxBytes} bytes in it`, `at most ${maxBytes}`);
    yield part;
  }
}

function refused(found: string, wanted: string, cause?: unknown): FeatureError {
  const message = `cannot unpack the archive of csi-proxy: found ${found}; wanted ${wanted}`;
  return new FeatureError('archiveRefused', message, { cause });
}
