import { hasKeptService, SERVICE_STATES } from '@wins/installation';
import {
  csiProxySettings,
  type CsiProxySettings,
  type DesiredCsiProxy,
} from './settings/judge-settings.js';
import { FeatureError } from '../../kernel/feature-error.js';
import { featureMetrics, type Feature, type RunningFeature } from '../../kernel/feature.js';
import { gauge } from '../../kernel/metrics.js';
import { APPLY } from './actions.js';
import { csiProxyChecks } from './checks.js';
import { csiProxyConditions } from './csi-proxy-conditions.js';
import { csiProxyFacts, type CsiProxyStatus } from './csi-proxy-facts.js';
import { csiProxySystem } from './csi-proxy-system.js';
import { removeCsiProxy } from './remove-csi-proxy.js';
import type { KeptCsiProxy } from './start-csi-proxy.js';

const METRICS = {
  wins_csi_proxy_state: gauge(
    '1 for the current state of csi-proxy; no state is 1 while it is off.',
    { state: SERVICE_STATES },
  ),
};
const NO_SECTION = { reason: 'the config has no section csi-proxy' };

/** The kind `none` (a config without the section) removes an earlier installation. */
export type KeptSettings = Exclude<CsiProxySettings, { readonly kind: 'invalid' }>;

export type RunningCsiProxy = RunningFeature<KeptSettings> & {
  readonly kept: Pick<KeptCsiProxy, 'status' | 'desired' | 'plan' | 'apply'>;
};

export const csiProxy: Feature<KeptSettings, RunningCsiProxy> = {
  ...csiProxyChecks,
  name: 'csi-proxy',
  stage: 'works',
  purpose: 'keep csi-proxy',
  settings: ({ config, path }) => {
    const { lacks: reason } = csiProxySystem;
    if (reason !== undefined) return { reason };
    const settings = csiProxySettings(config, path);
    if (settings.kind !== 'invalid') return settings;
    const reasons = settings.faults.map(
      ({ keyPath, found, expected }) => `${keyPath}: found ${found}; wanted ${expected}`,
    );
    return { reason: reasons.join('; '), isFault: true };
  },
  start: async (settings, { logger, audit, events, trust }, { changed, finished }) => {
    const { stateFolder } = settings;
    // Without a record there is nothing to remove.
    if (settings.kind === 'none' && !hasKeptService(stateFolder)) return NO_SECTION;
    let current = settings;
    const onStatus = (status: CsiProxyStatus): void => {
      const { state } = status;
      logger[state === 'failed' ? 'warn' : 'info'](status, 'the state of csi-proxy');
      events.publish({ type: 'kept', event: 'csiProxy', facts: { state } });
      changed();
      // No csi-proxy is wanted and ours is gone, so the feature ends. A csi-proxy that still serves belongs to another installer.
      if (current.kind === 'none' && (state === 'absent' || state === 'serving'))
        finished(current, NO_SECTION);
    };
    const { startCsiProxy } = await import('./start-csi-proxy.js');
    const kept = await startCsiProxy(
      {
        stateFolder,
        trust,
        onStatus,
        onDecision: (decision) => audit.decided(decision),
        onWarning: (problem) => logger.warn({ problem }, 'csi-proxy'),
      },
      desiredOf(settings),
      csiProxySystem.node?.(),
    );
    return {
      kept,
      configure: (next) => {
        if (next === current) return;
        current = next;
        kept.want(desiredOf(next));
      },
      // The service keeps running.
      close: () => kept.close(new FeatureError('closed', 'csi-proxy is no longer managed')),
    };
  },
  // The next daemon undoes a change that takes longer.
  closeWithinMs: 5_000,
  whenOff: {
    code: 'csiProxyOff',
    message: (reason) => `csi-proxy is disabled (${reason}): see "csi-proxy" in the config`,
  },
  conditions: ({ running }) => (running === undefined ? [] : csiProxyConditions(running.kept)),
  facts: ({ kept }) => csiProxyFacts(kept),
  changes: {
    actions: { apply: APPLY, remove: undefined },
    plan: async ({ kept }) => ({ steps: await kept.plan() }),
    make: ({ kept }, _change, signal) => kept.apply({ signal }),
  },
  removal: { what: 'csi-proxy', remove: (from) => removeCsiProxy(from) },
  metrics: featureMetrics(METRICS, (metrics, view) => {
    metrics.read('wins_csi_proxy_state', () => {
      const now = view.running?.kept.status.state;
      return SERVICE_STATES.map((state) => [{ state }, Number(state === now)]);
    });
    return () => undefined;
  }),
};

function desiredOf(settings: KeptSettings): DesiredCsiProxy | undefined {
  return settings.kind === 'wanted' ? settings.desired : undefined;
}
