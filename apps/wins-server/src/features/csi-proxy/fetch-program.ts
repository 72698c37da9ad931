import { messageOf, quoteText, toldAddress } from '@wins/base';
import type { TlsSettings } from '@wins/config';
import type { ServiceRelease } from '@wins/installation';
import { readCertificates, systemRoots } from '@wins/net';
import { createDownload, type Download, type Downloaded } from '@wins/rancher-client';
import { readBytes, type FileTrust } from '@wins/trusted-files';
import { hash } from 'node:crypto';
import { readProgram } from './archive/read-program.js';
import { CsiProxyError } from './csi-proxy-error.js';
import type { DesiredCsiProxy } from './settings/judge-settings.js';

/** A real archive has about 10 MiB. */
const MAX_ARCHIVE_BYTES = 64 * 1024 * 1024;
const GZIP_MAGIC = Uint8Array.of(0x1f, 0x8b);

const MAX_AUTHORITIES_BYTES = 1024 * 1024;
/** Short, because a command may be waiting, and the keeper retries by itself. */
const TIMEOUT_MS = 60_000;

export interface FetchOptions {
  readonly trust: FileTrust;
  /** First bytes of a program. */
  readonly programMagic: Uint8Array;
  readonly onWarning: (message: string) => void;
  readonly signal: AbortSignal;
  /** Default: {@link createDownload} with the authorities of the system and of `certFilePath`. */
  readonly downloadFor?: ((tls: TlsSettings) => Download) | undefined;
}

/**
 * Downloads the archive, and unpacks it once its digest or its server's certificate is verified. Archive and program are in memory, at most 64 MiB and
 * 128 MiB.
 *
 * @param sha256 - Digest that the archive must have. If absent, the server's certificate authenticates the archive.
 * @throws FeatureError `downloadFailed`, `digestMismatch`, `archiveRefused`; the signal's reason.
 */
export async function fetchProgram(
  { url, trust: tls }: DesiredCsiProxy,
  sha256: string | undefined,
  options: FetchOptions,
): Promise<ServiceRelease> {
  const { downloadFor, programMagic, signal } = options;
  let archive: Downloaded;
  try {
    const download = downloadFor?.(tls) ?? (await verifiedDownload(tls, options));
    const wanted = { maxBytes: MAX_ARCHIVE_BYTES, magic: GZIP_MAGIC, sha256, signal };
    archive = await download(url, wanted);
  } catch (cause) {
    signal.throwIfAborted();
    // The query may contain credentials, and the message of the downloader may quote it.
    const { search } = new URL(url);
    const why = search === '' ? messageOf(cause) : messageOf(cause).replaceAll(search, '');
    const isOther = cause instanceof Error && 'code' in cause && cause.code === 'digestMismatch';
    const code = isOther ? 'digestMismatch' : 'downloadFailed';
    const nextStep = isOther ? '. If this archive is the right one, set csi-proxy.sha256' : '';
    const message = `cannot fetch ${toldAddress(url)}: ${why}${nextStep}`;
    throw new CsiProxyError(code, message, { cause });
  }
  const content = await readProgram(archive.content);
  signal.throwIfAborted();
  const begin = content.subarray(0, programMagic.length);
  if (!begin.equals(programMagic)) {
    const found = `bytes ${begin.toString('hex') || 'none'} in csi-proxy.exe`;
    const wanted = `a program, which begins with ${Buffer.from(programMagic).toString('hex')}`;
    const message = `cannot unpack the archive of csi-proxy: found ${found}; wanted ${wanted}`;
    throw new CsiProxyError('archiveRefused', message);
  }
  const programSha256 = hash('sha256', content, 'hex');
  return { archiveSha256: archive.sha256, programSha256, content };
}

/** With `insecure`, accepts any certificate but requires a digest. @throws Error for an unusable `certFilePath`. */
async function verifiedDownload(
  { insecure = false, certFilePath: file }: TlsSettings,
  { trust, onWarning }: FetchOptions,
): Promise<Download> {
  const roots = [...systemRoots()];
  if (file !== undefined) {
    const limits = { trust, followLinks: true, maxBytes: MAX_AUTHORITIES_BYTES };
    const text = (await readBytes(file, limits)).toString('latin1');
    const { certificates, warnings } = readCertificates(text, quoteText(file));
    warnings.forEach(onWarning);
    if (certificates.length === 0)
      throw new Error(
        `${quoteText(file)} has no certificate; wanted the authorities of tls-config`,
      );
    roots.push(...certificates.map(({ pem }) => pem));
  }
  return createDownload({
    // judgeUrl has refused http:// addresses without a digest.
    allowHttp: true,
    anyCertificate: insecure,
    timeoutMs: TIMEOUT_MS,
    roots,
    onWarning,
  });
}
