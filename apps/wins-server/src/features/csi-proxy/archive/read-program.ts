import { CsiProxyError } from '../csi-proxy-error.js';
import { entryFault, readTar, type TarEntry } from '@wins/system-agent';
import { messageOf, quoteText } from '@wins/base';
import { buffer } from 'node:stream/consumers';
import { createGunzip } from 'node:zlib';
import { FeatureError } from '../../../kernel/feature-error.js';

/** The spelling must match exactly. */
const PROGRAM_NAME = 'csi-proxy.exe';
/** A real archive is about 10 MiB long and has a few entries. */
const LIMITS = { unpackedBytes: 128 * 1024 * 1024, entries: 1024 };

/** Extracts the only program of a gzip-compressed tar. @throws FeatureError `archiveRefused`. */
export async function readProgram(archive: Uint8Array, limits = LIMITS): Promise<Buffer> {
  let entries = 0;
  let program: Buffer | undefined;
  try {
    for await (const entry of readTar(unpacked(archive, limits.unpackedBytes))) {
      entries += 1;
      if (entries > limits.entries)
        throw refused('more entries', `at most ${limits.entries} in an archive`);
      if (!isProgram(entry.header)) continue;
      if (program !== undefined) throw refused(`${PROGRAM_NAME} twice`, 'one');
      program = await buffer(entry);
    }
  } catch (error) {
    if (error instanceof FeatureError) throw error;
    throw refused(messageOf(error), 'a tar archive compressed with gzip', error);
  }
  if (program === undefined) throw refused(`no ${PROGRAM_NAME}`, 'one, as bin/csi-proxy.exe');
  return program;
}

/** Returns true for the program, the only entry to extract. Refuses links, and names that lead outside the archive. */
function isProgram({ name, type }: TarEntry['header']): boolean {
  const refuse = (found: string, wanted: string): CsiProxyError =>
    refused(`${quoteText(name, { maxLength: 128 })}, ${found}`, wanted);
  if (type !== 'file' && type !== 'directory')
    throw refuse(`a ${type ?? 'kind that is unknown'}`, 'only files and folders');
  const fault = entryFault(name, 'windows');
  if (fault !== undefined) throw refuse(fault, 'a path below the root of the archive');
  const base = name.split('/').findLast((part) => part !== '' && part !== '.') ?? '';
  if (base.toLowerCase() !== PROGRAM_NAME) return false;
  if (type === 'directory') throw refuse('a folder', 'a file of that name');
  // Refused, not skipped: on Windows, a name that differs only in case means the same file.
  if (base !== PROGRAM_NAME) throw refuse('in another spelling', `${PROGRAM_NAME}, spelled so`);
  return true;
}

async function* unpacked(archive: Uint8Array, maxBytes: number): AsyncGenerator<Buffer> {
  const decoder = createGunzip().end(archive);
  let count = 0;
  for await (const part of decoder as AsyncIterable<Buffer>) {
    count += part.length;
    if (count > maxBytes) throw refused(`more than ${maxBytes} bytes in it`, `at most ${maxBytes}`);
    yield part;
  }
}

function refused(found: string, wanted: string, cause?: unknown): CsiProxyError {
  const message = `cannot unpack the archive of csi-proxy: found ${found}; wanted ${wanted}`;
  return new CsiProxyError('archiveRefused', message, { cause });
}
