import { writePendingFile, type FileTrust, type PendingFile } from '@wins/trusted-files';
import { messageOf } from '@wins/wins-program';
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { unlink } from 'node:fs/promises';
import path from 'node:path';
import type { ArchiveLimits } from '../archive/archive-limits.js';
import { readProgram } from '../archive/read-program.js';
import { CsiProxyError } from '../csi-proxy-error.js';
import { programPath } from '../decide/after-step.js';
import type { StoredRelease } from '../decide/install-record.js';
import type { Download } from '../ports.js';
import type { CsiProxyWish } from '../settings/judge-settings.js';
import { withFile } from './file-failure.js';

/** What fetching a release takes. */
export interface FetchParts {
  readonly download: Download;
  readonly trust: FileTrust;
  readonly limits: ArchiveLimits;
  /** What a program begins with. */
  readonly programMagic: Uint8Array;
  /** Called before the program takes its place, when something is there: what may run it has to end. */
  readonly beforeReplacing: (program: string) => Promise<void>;
  readonly signal: AbortSignal;
}

const GZIP_MAGIC = Uint8Array.of(0x1f, 0x8b);
const PRIVATE = 0o600;
const EXECUTABLE = 0o700;

/**
 * Fetches an archive into the private folder, compares its digest, and only then looks into it; the program gets its name when all of it was
 * written, flushed and found to be a program. What fails leaves the releases untouched.
 *
 * @param sha256 - The digest that the archive must have; absent: the certificate of the server vouches for it.
 * @throws CsiProxyError `downloadFailed`, `digestMismatch`, `archiveRefused`, `fileFailed`; the reason of the signal.
 */
export async function fetchRelease(
  { url, version, folder }: CsiProxyWish,
  sha256: string | undefined,
  parts: FetchParts,
): Promise<StoredRelease> {
  const { trust } = parts;
  await withFile('use the folder', folder, () => trust.ensurePrivateFolder(folder));
  const archive = await fetchArchive(url, path.join(folder, 'archive.tar.gz'), sha256, parts);
  try {
    const program = programPath(folder, version, archive.sha256);
    const release = path.dirname(program);
    await withFile('use the folder', release, () => trust.ensurePrivateFolder(release));
    const unpacked = await unpackProgram(archive.file.temporary, program, parts);
    try {
      await parts.beforeReplacing(program);
      await withFile('write', program, () => unpacked.file.place());
    } finally {
      await unpacked.file.discard();
    }
    return {
      ...{ version, archiveSha256: archive.sha256, programSha256: unpacked.sha256, program },
    };
  } finally {
    await archive.file.discard();
  }
}

interface Hashed {
  readonly file: PendingFile;
  readonly sha256: string;
}

async function fetchArchive(
  url: string,
  target: string,
  wanted: string | undefined,
  { download, limits, signal }: FetchParts,
): Promise<Hashed> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const file = await writeAside(target, PRIVATE, async (append) => {
    let write: Promise<void> | undefined;
    const sink = async (part: Uint8Array): Promise<void> => {
      sizeBytes += part.length;
      if (sizeBytes > limits.archiveBytes) throw tooLarge(url, limits.archiveBytes);
      hash.update(part);
      write = append(part);
      await write;
    };
    const options = { maxBytes: limits.archiveBytes, magic: GZIP_MAGIC, signal };
    try {
      const got = await download(url, { ...options, ...(wanted && { sha256: wanted }) }, sink);
      if (wanted === undefined && got.verifiedBy !== 'tls')
        throw new Error('nothing vouches for it');
    } catch (cause) {
      signal.throwIfAborted();
      // Not the network is to blame.
      await write;
      throw asDownloadError(url, cause);
    }
  });
  const found = hash.digest('hex');
  if (wanted === undefined || found === wanted) return { file, sha256: found };
  await file.discard();
  const message = `cannot take the archive from ${addressOf(url)}: found the SHA-256 ${found}; wanted ${wanted}; if it is the right one, set csi-proxy.sha256`;
  throw new CsiProxyError('digestMismatch', message);
}

async function unpackProgram(
  archive: string,
  program: string,
  { limits, programMagic, signal }: FetchParts,
): Promise<Hashed> {
  const hash = createHash('sha256');
  let begin = Buffer.alloc(0);
  const file = await writeAside(program, EXECUTABLE, (append) =>
    readProgram(createReadStream(archive), limits, async (part) => {
      signal.throwIfAborted();
      hash.update(part);
      if (begin.length < programMagic.length)
        begin = Buffer.concat([begin, part.subarray(0, programMagic.length - begin.length)]);
      await append(part);
    }),
  );
  if (begin.equals(programMagic)) return { file, sha256: hash.digest('hex') };
  await file.discard();
  const found = `bytes ${begin.toString('hex') || 'none'}`;
  const wanted = `a program, which begins with ${Buffer.from(programMagic).toString('hex')}`;
  const message = `cannot unpack the archive of csi-proxy: found ${found} in csi-proxy.exe; wanted ${wanted}`;
  throw new CsiProxyError('archiveRefused', message);
}

/** Writes a file beside its place. One daemon works in the folder: a file of that name was left behind by an earlier one. */
async function writeAside(
  target: string,
  mode: number,
  fill: (append: (part: Uint8Array) => Promise<void>) => Promise<void>,
): Promise<PendingFile> {
  const temporary = `${target}.part`;
  await unlink(temporary).catch(() => undefined);
  let thrown: unknown;
  try {
    return await writePendingFile(
      target,
      { mode },
      async (write) => {
        let position = 0;
        try {
          await fill(async (part) => {
            const at = position;
            position += part.length;
            await write(part, at);
          });
        } catch (error) {
          thrown = error;
          throw error;
        }
      },
      temporary,
    );
  } catch (error) {
    if (
      thrown instanceof CsiProxyError ||
      (thrown instanceof Error && thrown.name === 'AbortError')
    )
      throw thrown;
    return await withFile('write', target, () => Promise.reject(error as Error));
  }
}

function asDownloadError(url: string, cause: unknown): CsiProxyError {
  if (cause instanceof CsiProxyError) return cause;
  // Who downloads may name the whole address.
  const { search } = new URL(url);
  const why = search === '' ? messageOf(cause) : messageOf(cause).replaceAll(search, '');
  const isOther = cause instanceof Error && 'code' in cause && cause.code === 'digestMismatch';
  const code = isOther ? 'digestMismatch' : 'downloadFailed';
  return new CsiProxyError(code, `cannot fetch ${addressOf(url)}: ${why}`, { cause });
}

function tooLarge(url: string, maxBytes: number): CsiProxyError {
  const message = `cannot fetch ${addressOf(url)}: found more than ${maxBytes} bytes; wanted at most that`;
  return new CsiProxyError('archiveRefused', message);
}

/** What may be told of an address: a query may be a secret. */
export function addressOf(url: string): string {
  if (!URL.canParse(url)) return '(an address)';
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname}`;
}
