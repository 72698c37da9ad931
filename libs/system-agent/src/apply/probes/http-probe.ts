import {
  askStatus,
  type RedirectRule,
  publicRoots,
  readCertificates,
  type TlsTrust,
} from '@wins/net';
import type { HttpGet } from '../../plan/plan.js';
import { readBytes } from '@wins/trusted-files';
import { messageOf, onSystemDrive, quoteText } from '@wins/base';
import { createHash } from 'node:crypto';
import tls from 'node:tls';

/** The Go agent's HTTP client stops after ten requests. */
const MAX_REDIRECTS = 9;

/** A component must not redirect probes to other hosts. */
const onSameHost: RedirectRule = (to, from) =>
  to.hostname === from.hostname ? undefined : 'one to the same host';

const MAX_PEM_BYTES = 1024 * 1024;
/** Maximum number of cached trusts. The cache exists because TLS needs milliseconds per trust to parse more than a hundred system certificates. */
const MAX_TRUSTS = 32;
const ANYBODY: TlsTrust = { roots: 'anyCertificate' };

/** Probes like the kubelet. Reads certificates again for each probe; equal certificates share a `TlsTrust`. */
export class Prober {
  readonly #trusts = new Map<string, TlsTrust>();
  #roots: readonly string[] | undefined;

  /** Uses no proxy. `fault` describes an unusable certificate, which the probe omits. Never rejects. */
  async ask(url: URL, httpGet: HttpGet, signal: AbortSignal) {
    const { trust, faults } = await this.#trustFor(httpGet);
    const asked = { url, trust, redirects: onSameHost, maxRedirects: MAX_REDIRECTS };
    const asking = askStatus({ ...asked, userAgent: 'kube-probe/.' }, { signal });
    const status = await asking.catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return undefined;
    });
    return { isWell: status !== undefined && status >= 200 && status <= 299, fault: faults[0] };
  }

  async #trustFor({ insecure, caCert, clientCert, clientKey }: HttpGet) {
    if (insecure) return { trust: ANYBODY, faults: [] };
    const faults: Error[] = [];
    const attempt = <T>(what: string, acting: Promise<T>): Promise<T | undefined> =>
      acting.catch((cause: unknown) => {
        faults.push(new Error(`cannot use ${what} of a probe: ${messageOf(cause)}`, { cause }));
        return undefined;
      });
    const onWarning = (message: string) => faults.push(new Error(message));
    const ca = caCert ? await attempt('caCert', readAuthorities(caCert, onWarning)) : undefined;
    const pair =
      clientCert || clientKey
        ? await attempt('clientCert and clientKey', readPair(clientCert ?? '', clientKey ?? ''))
        : undefined;
    return { trust: this.#trustOf(ca, pair), faults };
  }

  #trustOf(ca: string | undefined, pair: Pair | undefined): TlsTrust {
    const key = keyOf(ca, pair);
    const kept = this.#trusts.get(key);
    if (kept !== undefined) return kept;
    const roots = (this.#roots ??= publicRoots());
    const trust: TlsTrust = {
      roots: ca ? [...roots, ca] : roots,
      ...(pair && { clientCertificate: pair }),
    };
    const [oldest] = this.#trusts.keys();
    if (this.#trusts.size >= MAX_TRUSTS && oldest !== undefined) this.#trusts.delete(oldest);
    this.#trusts.set(key, trust);
    return trust;
  }
}

function keyOf(ca: string | undefined, pair: Pair | undefined): string {
  if (ca === undefined && pair === undefined) return '';
  const hash = createHash('sha256');
  for (const part of [ca ?? '', pair?.cert ?? '', pair?.key ?? ''])
    hash.update(`${part.length}:`).update(part);
  return hash.digest('hex');
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

async function readAuthorities(file: string, onWarning: (message: string) => void) {
  const pem = await readFile(file);
  const { certificates, warnings } = readCertificates(pem.toString('latin1'), quoteText(file));
  warnings.forEach(onWarning);
  if (certificates.length === 0) throw new Error(`found no certificate in ${quoteText(file)}`);
  return certificates.map((each) => each.pem).join('');
}

function readFile(path: string): Promise<Buffer> {
  // A cluster's certificates are often links to the newest ones.
  return readBytes(onSystemDrive(path), { followLinks: true, maxBytes: MAX_PEM_BYTES });
}
