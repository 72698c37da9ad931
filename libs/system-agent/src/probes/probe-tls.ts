import { openRegularFile, readWhole } from '@wins/trusted-files';
import { messageOf } from '@wins/wins-program';
import { createHash } from 'node:crypto';
import tls, { type SecureContext } from 'node:tls';
import type { HttpGet } from '../plan/plan.js';

const MAX_PEM_BYTES = 1024 * 1024;
/** Making one takes milliseconds: it checks more than a hundred certificates of the system. */
const MAX_CONTEXTS = 32;

/** What a probe shows and trusts. */
export interface ProbeTrust {
  readonly context: SecureContext;
  /** What cannot be used; the probe goes on without it. */
  readonly faults: readonly Error[];
}

/** Reads the certificates of probes each time, and makes what TLS needs of them once. */
export class ProbeTls {
  readonly #contexts = new Map<string, SecureContext>();
  #roots: string[] | undefined;

  async trustFor({ insecure, caCert, clientCert, clientKey }: HttpGet): Promise<ProbeTrust> {
    const faults: Error[] = [];
    const attempt = async <T>(what: string, act: () => Promise<T>): Promise<T | undefined> => {
      try {
        return await act();
      } catch (cause) {
        const message = `cannot use ${what} of a probe: ${messageOf(cause)}`;
        faults.push(new Error(message, { cause }));
        return undefined;
      }
    };
    // Whoever accepts any certificate shows none.
    const named = (file: string | undefined): string => (insecure ? '' : (file ?? ''));
    const ca =
      named(caCert) &&
      (await attempt('caCert', () => readPem(named(caCert), (pem) => ({ ca: pem }))));
    const pair =
      (named(clientCert) || named(clientKey)) &&
      (await attempt('clientCert and clientKey', () =>
        readPair(named(clientCert), named(clientKey)),
      ));
    const context = this.#contextOf(ca || undefined, pair || undefined);
    return { context, faults };
  }

  #contextOf(ca: Buffer | undefined, pair: Pair | undefined): SecureContext {
    const parts = [ca ?? '', pair?.cert ?? '', pair?.key ?? ''];
    const hash = createHash('sha256');
    for (const part of parts) hash.update(`${part.length}:`).update(part);
    const key = hash.digest('hex');
    const kept = this.#contexts.get(key);
    if (kept !== undefined) return kept;
    const roots = (this.#roots ??= systemRoots());
    const context = tls.createSecureContext({ ca: ca ? [...roots, ca] : roots, ...pair });
    const [oldest] = this.#contexts.keys();
    if (this.#contexts.size >= MAX_CONTEXTS && oldest !== undefined) this.#contexts.delete(oldest);
    this.#contexts.set(key, context);
    return context;
  }
}

interface Pair {
  readonly cert: Buffer;
  readonly key: Buffer;
}

async function readPair(cert: string, key: string): Promise<Pair> {
  const pair = { cert: await readFile(cert), key: await readFile(key) };
  tls.createSecureContext(pair);
  return pair;
}

async function readPem(
  file: string,
  use: (pem: Buffer) => tls.SecureContextOptions,
): Promise<Buffer> {
  const pem = await readFile(file);
  tls.createSecureContext(use(pem));
  return pem;
}

async function readFile(path: string): Promise<Buffer> {
  // Certificates of a cluster are often links to the newest ones.
  const file = await openRegularFile(path, { followLinks: true });
  try {
    return await readWhole(file, { maxBytes: MAX_PEM_BYTES });
  } finally {
    await file.handle.close();
  }
}

/** Those that Node brings, and those of the system where Node can read them (from 22.15 on). */
function systemRoots(): string[] {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'system') => string[] };
  return [...new Set([...tls.rootCertificates, ...(getCACertificates?.('system') ?? [])])];
}
