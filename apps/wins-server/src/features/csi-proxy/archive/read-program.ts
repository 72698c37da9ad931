import { TrustedFileError } from '@wins/trusted-files';
import { messageOf } from '@wins/wins-program';
import { once } from 'node:events';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { extract as createExtract } from 'tar-stream';
import { FeatureError } from '../../../kernel/feature-error.js';
import { judgeEntry, PROGRAM_NAME } from './judge-entry.js';

/** The tar of the seventh Unix has no mark of its own; the checksum of each header tells what is no tar. Not in the types of tar-stream. */
const WITH_OLD_FORMATS: object = { allowUnknownFormat: true };
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
  const extract = createExtract(WITH_OLD_FORMATS);
  const closed = new Promise<void>((resolve) => extract.on('close', resolve));
  // The first is the cause: tar-stream tells the reader of an entry only that it was ended.
  let failure: unknown;
  extract.on('error', (error) => (failure ??= error));
  const feed = async (): Promise<void> => {
    for await (const part of unpacked(archive, limits.unpackedBytes)) {
      if (extract.destroyed) return;
      if (!extract.write(part)) await Promise.race([once(extract, 'drain'), closed]);
    }
    extract.end(undefined);
  };
  const feeding = feed().catch((error: unknown) => {
    failure ??= error;
    extract.destroy(error instanceof Error ? error : new Error(String(error)));
  });
  let entries = 0;
  let programs = 0;
  try {
    for await (const entry of extract) {
      entries += 1;
      if (entries > limits.entries)
        throw refused('more entries', `at most ${limits.entries} in an archive`);
      const { name, type } = entry.header;
      const verdict = judgeEntry(name, type);
      if (verdict.is === 'refused') throw refused(verdict.found, verdict.wanted);
      if (verdict.is === 'program') {
        programs += 1;
        if (programs > 1) throw refused(`${PROGRAM_NAME} twice`, 'one');
        for await (const part of entry as AsyncIterable<Uint8Array>) await sink(part);
      }
      entry.resume();
    }
    await feeding;
  } catch (error) {
    const cause = failure ?? error;
    if (cause instanceof FeatureError || isOfFile(cause)) throw cause;
    throw refused(messageOf(cause), 'a tar that is compressed with gzip', cause);
  } finally {
    extract.destroy();
  }
  if (programs === 0) throw refused(`no ${PROGRAM_NAME}`, 'one, as bin/csi-proxy.exe');
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
