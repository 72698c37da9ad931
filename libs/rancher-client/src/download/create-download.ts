import { shownUrl, systemRoots, type HttpAnswer } from '@wins/net';
import { hash } from 'node:crypto';
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
  /** Milliseconds to retry temporary failures; 0 for one attempt. Default: 15 min. */
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

/** A verified file, with its SHA-256 in lower-case hexadecimal digits. */
export interface Downloaded {
  readonly content: Buffer;
  readonly sha256: string;
}

/** Downloads a file into memory. @throws RancherError */
export type Download = (url: string, wanted: DownloadWanted) => Promise<Downloaded>;

const TIMEOUT_MS = 900_000;

/** Creates a {@link Download}. Redirects may lead to other servers, but never from https to http. */
export function createDownload(options: DownloadOptions = {}): Download {
  const { timeoutMs = TIMEOUT_MS, anyCertificate = false } = options;
  return async (address, wanted) => {
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
    const asked = { what, maxBytes: wanted.maxBytes };
    return await client.retry({ what, timeoutMs }, (each) =>
      each.ask({ url, trust }, asked, async (answer) => {
        if (digest === undefined) requireLength(answer, what);
        const content = await answer.bytes(asked);
        requireFile(answer, content, what, wanted.magic);
        const sha256 = hash('sha256', content, 'hex');
        if (digest === undefined || digest === sha256) return { content, sha256 };
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

function requireFile(
  { headers }: HttpAnswer,
  content: Buffer,
  what: string,
  magic: Uint8Array = Buffer.alloc(0),
): void {
  const refused = (found: string, next: string) =>
    new RancherError('badShape', `cannot ${what}: found ${found}; wanted ${next}`);
  if (isHtml(headers, content))
    throw refused(
      'an HTML page',
      'the file. Rancher answers like this when it does not have the file',
    );
  if (content.length === 0) throw refused('nothing', 'a file');
  const begins = content.subarray(0, magic.length);
  if (begins.equals(magic)) return;
  const wanted = Buffer.from(magic).toString('hex');
  throw refused(`a file that begins with ${begins.toString('hex')}`, wanted);
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
