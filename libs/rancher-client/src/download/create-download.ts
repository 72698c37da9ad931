import { shownUrl, systemRoots, type HttpAnswer } from '@wins/net';
import { createHash } from 'node:crypto';
import {
  isHtml,
  parseAddress,
  rancherClient,
  type RancherSettings,
} from '../http/rancher-client.js';
import { RancherError } from '../rancher-error.js';

/** Options of {@link createDownload}. */
export interface DownloadOptions extends RancherSettings {
  /** PEM of the trusted authorities. Default: the system's. */
  readonly roots?: readonly string[] | undefined;
  /** Milliseconds to retry temporary failures; 0 for one attempt. No retry follows once the sink has data. Default: 15 min. */
  readonly timeoutMs?: number | undefined;
  /** Accepts any certificate, but then refuses redirects to other servers, and requires a digest. Default: false. */
  readonly anyCertificate?: boolean | undefined;
}

/** Limits and expected properties of a file to download. */
export interface DownloadWanted {
  /** Expected digest, in hex. Without it, the connection must use TLS, and the answer must be chunked or have a Content-Length. */
  readonly sha256?: string | undefined;
  /** A larger file ends the download with `tooLarge`. */
  readonly maxBytes: number;
  /** Expected first bytes of the file, such as `MZ`. */
  readonly magic?: Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Digest and size of a downloaded file, and how the content was verified. */
export interface Downloaded {
  /** In lower-case hexadecimal digits. */
  readonly sha256: string;
  readonly sizeBytes: number;
  /** `tls`: no digest was given, so only the server's certificate vouches for the content. */
  readonly verifiedBy: 'digest' | 'tls';
}

/** The bytes are unverified until the promise resolves. Rethrows exceptions of the sink. @throws RancherError */
export type Download = (
  url: string,
  wanted: DownloadWanted,
  sink: (part: Uint8Array) => Promise<void> | void,
) => Promise<Downloaded>;

const TIMEOUT_MS = 900_000;
const FIRST_BYTES = 512;

/** Creates a {@link Download}. Redirects may lead to other servers, but never from https to http. */
export function createDownload(options: DownloadOptions = {}): Download {
  const { timeoutMs = TIMEOUT_MS, anyCertificate = false } = options;
  return async (address, wanted, sink) => {
    const url = parseAddress(address, 'download a file', options.allowHttp);
    const what = `download ${shownUrl(url)}`;
    const digest = digestOf(wanted, what);
    if (digest === undefined && (anyCertificate || url.protocol === 'http:')) {
      const found = anyCertificate
        ? 'no digest; wanted the SHA-256 of the file because certificates are not verified'
        : 'http:// and no digest; wanted https://, or the SHA-256 of the file';
      throw new RancherError('invalidRequest', `cannot ${what}: found ${found}`);
    }
    const signals = [options.signal, wanted.signal].filter((each) => each !== undefined);
    using client = rancherClient({ ...options, signal: AbortSignal.any(signals) });
    const roots = () => options.roots ?? (options.systemRoots ?? systemRoots)();
    const trust = anyCertificate
      ? ({ roots: 'anyCertificate' } as const)
      : () => ({ roots: roots() });
    // No retry after the sink has received bytes: only the caller can discard them.
    let isBegun = false;
    return await client.retry({ what, timeoutMs, mayRepeat: () => !isBegun }, (each) =>
      each.ask({ url, trust }, { what, maxBytes: wanted.maxBytes }, async (answer, parts) => {
        if (digest === undefined) requireLength(answer, what);
        const hash = createHash('sha256');
        let sizeBytes = 0;
        for await (const part of checkedParts(answer, parts, what, wanted.magic)) {
          hash.update(part);
          sizeBytes += part.length;
          isBegun = true;
          await sink(part);
        }
        const sha256 = hash.digest('hex');
        if (digest === undefined) return { sha256, sizeBytes, verifiedBy: 'tls' as const };
        if (digest === sha256) return { sha256, sizeBytes, verifiedBy: 'digest' as const };
        const message = `cannot ${what}: found the SHA-256 ${sha256}; wanted ${digest}`;
        throw new RancherError('digestMismatch', message);
      }),
    );
  };
}

/** Without a digest, only a Content-Length or chunked encoding reveals a truncated file. */
function requireLength({ headers, declaredBytes }: HttpAnswer, what: string): void {
  const isChunked = /\bchunked\b/i.test(headers['transfer-encoding'] ?? '');
  if (isChunked || declaredBytes !== undefined) return;
  const message = `cannot ${what}: the answer has no Content-Length; wanted that, or the SHA-256 of the file`;
  throw new RancherError('badShape', message);
}

async function* checkedParts(
  answer: HttpAnswer,
  parts: AsyncIterable<Buffer>,
  what: string,
  begins: Uint8Array = Buffer.alloc(0),
): AsyncGenerator<Buffer> {
  const magic = Buffer.from(begins);
  const enough = Math.max(FIRST_BYTES, magic.length);
  let first: Buffer | undefined = Buffer.alloc(0);
  for await (const part of parts) {
    if (first === undefined) {
      yield part;
      continue;
    }
    first = Buffer.concat([first, part]);
    if (first.length < enough) continue;
    checkFirst(answer, first, what, magic);
    yield first;
    first = undefined;
  }
  if (first === undefined) return;
  checkFirst(answer, first, what, magic);
  if (first.length > 0) yield first;
}

function checkFirst({ headers }: HttpAnswer, first: Buffer, what: string, magic: Buffer): void {
  const refused = (found: string, next: string) =>
    new RancherError('badShape', `cannot ${what}: found ${found}; wanted ${next}`);
  if (isHtml(headers, first))
    throw refused(
      'an HTML page',
      'the file. Rancher answers like this when it does not have the file',
    );
  if (first.length === 0) throw refused('nothing', 'a file');
  const begins = first.subarray(0, magic.length);
  if (begins.equals(magic)) return;
  throw refused(`a file that begins with ${begins.toString('hex')}`, magic.toString('hex'));
}

function digestOf({ sha256, maxBytes }: DownloadWanted, what: string): string | undefined {
  const refused = (found: string) =>
    new RancherError('invalidRequest', `cannot ${what}: found ${found}`);
  if (!Number.isSafeInteger(maxBytes) || maxBytes <= 0)
    throw refused(`${maxBytes} as its maximum size; wanted a positive whole number of bytes`);
  const digest = sha256?.trim().toLowerCase();
  if (digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest;
  throw refused(`${digest.length} characters as its SHA-256; wanted 64 hex digits`);
}
