import { problem, summary, warning, type Reported } from '../../kernel/conditions/condition.js';
import type { ToldCsiProxy } from './csi-proxy-facts.js';

const NAME = 'csi-proxy';
/** Time to fetch and install a csi-proxy. */
const INSTALL_MS = 120_000;

export function csiProxyConditions({
  status: { state, detail, failure },
  desired,
}: ToldCsiProxy): readonly Reported[] {
  if (failure !== undefined) {
    const again = `the next attempt is at ${failure.retryAt}`;
    const advice = `correct it; ${again}, or now by "wins srv csi-proxy apply"`;
    return [problem(NAME, 'csiProxyFailed', detail, advice)];
  }
  if (desired === undefined) return [];
  if (state === 'serving') return [summary(NAME, detail)];
  const advice = 'see "wins srv csi-proxy status" and the log of the daemon';
  const more = { visibleAfterMs: INSTALL_MS };
  return [warning(NAME, 'csiProxyUnfinished', `${state}: ${detail}`, advice, more)];
}
