import { CsiProxyError } from '../csi-proxy-error.js';
import type { Download } from '@wins/rancher-client';
import { writePendingFile, type FileTrust } from '@wins/trusted-files';
import { messageOf, toldAddress } from '@wins/base';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { unlink } from 'node:fs/promises';
import path from 'node:path';
import { readProgram } from '../archive/read-program.js';
import { programPath } from '../decide/decide.js';
import type { StoredRelease } from '../decide/install-record.js';
import type { DesiredCsiProxy } from '../settings/judge-settings.js';
import { withFile } from './failures.js';

export interface FetchParts {
  readonly download: Download;
  readonly trust: FileTrust;
  readonly programMagic: Uint8Array;
  /** Ends the processes of an existing program before it is replaced. */
  readonly beforeReplacing: (program: string) => Promise<void>;
  readonly signal: AbortSignal;
}

/** A real archive has about 10 MiB. */
const MAX_ARCHIVE_BYTES = 256 * 1024 * 1024;
const GZIP_MAGIC = Uint8Array.of(0x1f, 0x8b);
const PRIVATE = 0o600;
const EXECUTABLE = 0o700;

/**
 * Unpacks the archive only after its digest or its server's certificate is verified. Renames the program into place only after it is flushed
 * and recognised. A failure leaves the existing releases untouched.
 * @param sha256 - Digest that the archive must have. If absent, the server's certificate authenticates the archive.
 * @throws FeatureError `downloadFailed`, `digestMismatch`, `archiveRefused`, `fileFailed`; the signal's reason.
 */
export async function fetchRelease(
  { url, version, folder }: DesiredCsiProxy,
  sha256: string | undefined,
  { download, trust, programMagic, beforeReplacing, signal }: FetchParts,
): Promise<StoredRelease> {
  await withFile('use the folder', folder, () => trust.ensurePrivateFolder(folder));
  let archiveSha256 = '';
  const target = path.join(folder, 'archive.tar.gz');
  const archive = await writeAside(target, PRIVATE, async (append) => {
    archiveSha256 = await downloadArchive(download, url, sha256, append, signal);
  });
  try {
    const program = programPath(folder, version, archiveSha256);
    const release = path.dirname(program);
    await withFile('use the folder', release, () => trust.ensurePrivateFolder(release));
    const hash = createHash('sha256');
    const unpacked = await writeAside(program, EXECUTABLE, async (append) => {
      let begin = Buffer.alloc(0);
      await readProgram(createReadStream(archive.temporary), async (part) => {
        signal.throwIfAborted();
        hash.update(part);
        if (begin.length < programMagic.length)
          begin = Buffer.concat([begin, part.subarray(0, programMagic.length - begin.length)]);
        await append(part);
      });
      if (begin.equals(programMagic)) return;
      const found = `bytes ${begin.toString('hex') || 'none'} in csi-proxy.exe`;
      const wanted = `a program, which begins with ${Buffer.from(programMagic).toString('hex')}`;
      const message = `cannot unpack the archive of csi-proxy: found ${found}; wanted ${wanted}`;
      throw new CsiProxyError('archiveRefused', message);
    });
    try {
      await beforeReplacing(program);
      await withFile('write', program, () => unpacked.place());
    } finally {
      await unpacked.discard();
    }
    return { version, archiveSha256, programSha256: hash.digest('hex'), program };
  } finally {
    await archive.discard();
  }
}

type Append = (part: Uint8Array) => Promise<void>;

async function downloadArchive(
  download: Download,
  url: string,
  sha256: string | undefined,
  append: Append,
  signal: AbortSignal,
): Promise<string> {
  let write: Promise<void> | undefined;
  const wanted = { maxBytes: MAX_ARCHIVE_BYTES, magic: GZIP_MAGIC, signal };
  try {
    const got = await download(url, { ...wanted, ...(sha256 && { sha256 }) }, (part) => {
      write = append(part);
      return write;
    });
    return got.sha256;
  } catch (cause) {
    signal.throwIfAborted();
    // A write error is not a network failure, so rethrow it.
    await write;
    // The query may contain credentials, and the message of the downloader may quote it.
    const { search } = new URL(url);
    const why = search === '' ? messageOf(cause) : messageOf(cause).replaceAll(search, '');
    const isOther = cause instanceof Error && 'code' in cause && cause.code === 'digestMismatch';
    const code = isOther ? 'digestMismatch' : 'downloadFailed';
    const nextStep = isOther ? '. If this archive is the right one, set csi-proxy.sha256' : '';
    const message = `cannot fetch ${toldAddress(url)}: ${why}${nextStep}`;
    throw new CsiProxyError(code, message, { cause });
  }
}

/** Only one daemon works in the folder, so an existing temporary file is a leftover. */
async function writeAside(target: string, mode: number, fill: (append: Append) => Promise<void>) {
  const temporary = `${target}.part`;
  await unlink(temporary).catch(() => undefined);
  let position = 0;
  return withFile('write', target, () =>
    writePendingFile(
      target,
      { mode },
      (write) =>
        fill((part) => {
          const at = position;
          position += part.length;
          return write(part, at);
        }),
      temporary,
    ),
  );
}
