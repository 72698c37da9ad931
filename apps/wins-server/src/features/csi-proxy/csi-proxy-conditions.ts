import { problem, summary, warning, type Reported } from '../../kernel/conditions/condition.js';
import type { Keeper } from './keeper.js';

const NAME = 'csi-proxy';
/** Time to fetch and install a csi-proxy. */
const INSTALL_MS = 120_000;

export function csiProxyConditions({
  state,
  desired,
}: Pick<Keeper, 'state' | 'desired'>): readonly Reported[] {
  if (desired === undefined) return [];
  switch (state.kind) {
    case 'failed': {
      const again = `the next attempt is at ${state.retryAt.toISOString()}`;
      const advice = `correct it; ${again}, or now by "wins srv csi-proxy apply"`;
      return [problem(NAME, 'csiProxyFailed', state.detail, advice)];
    }
    case 'serving':
      return [summary(NAME, state.detail)];
    default: {
      const found = `${state.kind}: ${'detail' in state ? state.detail : state.version}`;
      const advice = 'see "wins srv csi-proxy status" and the log of the daemon';
      const more = { visibleAfterMs: INSTALL_MS };
      return [warning(NAME, 'csiProxyUnfinished', found, advice, more)];
    }
  }
}
