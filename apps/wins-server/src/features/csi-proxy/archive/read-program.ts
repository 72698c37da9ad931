import { entryFault, readTar, type TarEntry } from '@wins/system-agent';
import { TrustedFileError } from '@wins/trusted-files';
import { messageOf, quoteText } from '@wins/base';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { FeatureError } from '../../../kernel/feature-error.js';

/** Name of the program in the archive, in exactly this spelling. */
const PROGRAM_NAME = 'csi-proxy.exe';
/** An archive of csi-proxy has some 10 MiB, and a few entries. */
const LIMITS = { unpackedBytes: 512 * 1024 * 1024, entries: 1024 };

/**
 * Hands out the bytes of the one program in a tar that is compressed with gzip. The archive is read to its end, so that a second program, or what
 * is wrong behind the first, is found: the caller uses the bytes only after this has ended well.
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
    if (error instanceof FeatureError || isOfFile(error)) throw error;
    throw refused(messageOf(error), 'a tar archive compressed with gzip', error);
  }
  if (programs === 0) throw refused(`no ${PROGRAM_NAME}`, 'one, as bin/csi-proxy.exe');
}

/**
 * Judges an entry by its name and kind. Nothing but the program is ever written, under a name of our own. An archive with a name that
 * leads elsewhere, or with links, is hostile, and is refused as a whole.
 */
function isProgram({ name, type }: TarEntry['header']): boolean {
  const refuse = (found: string, wanted: string): FeatureError =>
    refused(`${quoteText(name, { maxLength: 128 })}, ${found}`, wanted);
  if (type !== 'file' && type !== 'directory')
    throw refuse(`a ${type ?? 'kind that is unknown'}`, 'only files and folders');
  const fault = entryFault(name, 'windows');
  if (fault !== undefined) throw refuse(fault, 'a path below the root of the archive');
  const base = name.split('/').findLast((part) => part !== '' && part !== '.') ?? '';
  if (base.toLowerCase() !== PROGRAM_NAME) return false;
  if (type === 'directory') throw refuse('a folder', 'a file of that name');
  // Two spellings are one name on Windows.
  if (base !== PROGRAM_NAME) throw refuse('in another spelling', `${PROGRAM_NAME}, spelled so`);
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

/** Whether an error is of the file system, and says nothing of the archive. */
function isOfFile(error: unknown): boolean {
  return error instanceof TrustedFileError || (error instanceof Error && 'syscall' in error);
}
