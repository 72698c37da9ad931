import { createHash } from 'node:crypto';
import {
  shownUrl,
  systemRoots,
  type HttpAnswer,
  type HttpClient,
  type HttpRequest,
} from '@wins/net';
import { isHtml } from '../http/judge-text.js';
import { parseAddress } from '../http/parse-address.js';
import { rancherClient, type RancherSettings } from '../http/rancher-client.js';
import { RancherError } from '../rancher-error.js';
import type { ServerTrust } from '../trust/server-trust.js';
import type { Download, Downloaded, DownloadWanted } from './download.js';

/** How files are downloaded. */
export interface DownloadOptions extends RancherSettings {
  /** The server that is known by its own roots; all others by `roots`. */
  readonly trust?: Pick<ServerTrust, 'server' | 'roots'>;
  /** PEM of what the certificates of other servers may be from. Default: what the system trusts. */
  readonly roots?: readonly string[];
  /** For how long is asked again what may yet succeed, as long as the sink has got nothing. 0 for one attempt. Default: 15 min. */
  readonly timeoutMs?: number;
  /**
   * Asks a server whatever its certificate is, and follows no redirect to another one; a file without a digest is refused then. Default:
   * false.
   */
  readonly anyCertificate?: boolean;
}

const TIMEOUT_MS = 900_000;
/** As much of the beginning as a page for people is recognised by. */
const FIRST_BYTES = 512;

type Sink = Parameters<Download>[2];

/** Makes a {@link Download}. Redirects may lead to other servers, never from https to http. */
export function createDownload(options: DownloadOptions = {}): Download {
  const { trust, timeoutMs = TIMEOUT_MS, anyCertificate = false } = options;
  return async (address, wanted, sink) => {
    const url = parseAddress(address, 'download a file', options.allowHttp ?? false);
    const what = `download ${shownUrl(url)}`;
    const digest = digestOf(wanted, what);
    if (digest === undefined && url.protocol === 'http:') {
      const message = `cannot ${what}: found http:// and no digest; wanted https://, or the SHA-256 of the file`;
      throw new RancherError('invalidRequest', message);
    }
    if (digest === undefined && anyCertificate) {
      const message = `cannot ${what}: found no digest; wanted the SHA-256 of the file, as any certificate is taken`;
      throw new RancherError('invalidRequest', message);
    }
    const signals = [options.signal, wanted.signal].filter((each) => each !== undefined);
    using client = rancherClient({ ...options, signal: AbortSignal.any(signals) });
    // What a sink has got cannot be taken back: whoever gave it begins again.
    let isBegun = false;
    const begin: Sink = (part) => {
      isBegun = true;
      return sink(part);
    };
    return await client.retry({ what, timeoutMs, mayRepeat: () => !isBegun }, (each) =>
      new OneDownload({
        url,
        what,
        digest,
        wanted,
        sink: begin,
        trust: anyCertificate
          ? { roots: 'anyCertificate' }
          : (asked) => ({ roots: rootsFor(asked) }),
      }).run(each),
    );
  };

  function rootsFor(url: URL): readonly string[] {
    if (trust !== undefined && trust.server.origin === url.origin) return trust.roots;
    return options.roots ?? (options.systemRoots ?? systemRoots)();
  }
}

interface OneDownloadOptions {
  readonly url: URL;
  readonly what: string;
  readonly digest: string | undefined;
  readonly wanted: DownloadWanted;
  readonly sink: Sink;
  readonly trust: HttpRequest['trust'];
}

class OneDownload {
  readonly #options: OneDownloadOptions;
  readonly #hash = createHash('sha256');
  #sizeBytes = 0;

  constructor(options: OneDownloadOptions) {
    this.#options = options;
  }

  async run(client: HttpClient): Promise<Downloaded> {
    const { url, what, wanted, trust } = this.#options;
    const asked = { what, maxBytes: wanted.maxBytes };
    return await client.ask({ url, trust }, asked, async (answer, parts) => {
      this.#checkLength(answer);
      for await (const part of this.#checkedParts(answer, parts)) await this.#give(part);
      return this.#whole();
    });
  }

  /** Without a length nobody knows whether the end is the end; a digest does. */
  #checkLength(answer: HttpAnswer): void {
    const { what, digest } = this.#options;
    const isChunked = /\bchunked\b/i.test(answer.headers['transfer-encoding'] ?? '');
    if (digest !== undefined || isChunked || answer.declaredBytes !== undefined) return;
    throw new RancherError(
      'badShape',
      `cannot ${what}: found an answer without its length; wanted Content-Length, or the SHA-256 of the file`,
    );
  }

  /** Holds back the beginning until it is known to be that of the file. */
  async *#checkedParts(answer: HttpAnswer, parts: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
    const { magic } = this.#options.wanted;
    const enough = Math.max(FIRST_BYTES, magic?.length ?? 0);
    let first: Buffer | undefined = Buffer.alloc(0);
    for await (const part of parts) {
      if (first === undefined) {
        yield part;
        continue;
      }
      first = Buffer.concat([first, part]);
      if (first.length < enough) continue;
      this.#checkFirst(answer, first);
      yield first;
      first = undefined;
    }
    if (first === undefined) return;
    this.#checkFirst(answer, first);
    if (first.length > 0) yield first;
  }

  #checkFirst(answer: HttpAnswer, first: Buffer): void {
    const { what, wanted } = this.#options;
    const magic = Buffer.from(wanted.magic ?? []);
    const refused = (found: string, next: string) =>
      new RancherError('badShape', `cannot ${what}: found ${found}; wanted ${next}`);
    if (isHtml(answer.headers, first))
      throw refused('an HTML page', 'the file: Rancher answers so when it does not have one');
    if (first.length === 0) throw refused('nothing', 'a file');
    const begins = first.subarray(0, magic.length);
    if (begins.equals(magic)) return;
    throw refused(`a file that begins with ${begins.toString('hex')}`, magic.toString('hex'));
  }

  async #give(part: Buffer): Promise<void> {
    this.#hash.update(part);
    this.#sizeBytes += part.length;
    await this.#options.sink(part);
  }

  #whole(): Downloaded {
    const { what, digest } = this.#options;
    const sha256 = this.#hash.digest('hex');
    const sizeBytes = this.#sizeBytes;
    if (digest === undefined) return { sha256, sizeBytes, verifiedBy: 'tls' };
    if (digest === sha256) return { sha256, sizeBytes, verifiedBy: 'digest' };
    const message = `cannot ${what}: found the SHA-256 ${sha256}; wanted ${digest}`;
    throw new RancherError('digestMismatch', message);
  }
}

/** @throws RancherError `invalidRequest`. */
function digestOf({ sha256, maxBytes }: DownloadWanted, what: string): string | undefined {
  if (!Number.isSafeInteger(maxBytes) || maxBytes <= 0) {
    const message = `cannot ${what}: found ${maxBytes} as its largest size; wanted a number of bytes`;
    throw new RancherError('invalidRequest', message);
  }
  const digest = sha256?.trim().toLowerCase();
  if (digest === undefined || /^[0-9a-f]{64}$/.test(digest)) return digest;
  const message = `cannot ${what}: found ${digest.length} characters as its SHA-256; wanted 64 hex digits`;
  throw new RancherError('invalidRequest', message);
}
