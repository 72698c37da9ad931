import { askStatus, type RedirectRule } from '@wins/net';
import type { HttpGet } from '../plan/plan.js';
import { ProbeTls } from './probe-tls.js';

/** The original's client stops after ten requests. */
const MAX_REDIRECTS = 9;

/** A component must not redirect probes to other hosts. */
const onSameHost: RedirectRule = (to, from) =>
  to.hostname === from.hostname ? undefined : 'one to the same host';

/** Sends probes as the kubelet does. */
export class Prober {
  readonly #tls = new ProbeTls();

  /** True for a status from 200 to 299, after redirects on the same host, without a proxy. Never rejects. */
  async ask(
    url: URL,
    httpGet: HttpGet,
    signal: AbortSignal,
  ): Promise<{ readonly isWell: boolean; readonly fault: Error | undefined }> {
    const { trust, faults } = await this.#tls.trustFor(httpGet);
    const asked = { url, trust, redirects: onSameHost, maxRedirects: MAX_REDIRECTS };
    // Any failure counts as unhealthy, including a truncated answer.
    const status = await askStatus({ ...asked, userAgent: 'kube-probe/.' }, signal);
    return { isWell: status !== undefined && status >= 200 && status <= 299, fault: faults[0] };
  }
}
